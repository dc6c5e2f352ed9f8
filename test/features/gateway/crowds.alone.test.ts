import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { untilWaiting } from '../../kit/waiting.js';

/** More than are checked and wait for it, of one token. */
const CROWD = 150;
/** One is checked, and 120 wait for the next check. */
const REFUSED = CROWD - 121;

describe('many requests of one token at once', () => {
  const strongroom = useSharedStrongroom();

  test('are answered as far as there is room, and leave room for another token', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.caller(admin, { project: project.id });
    const path = `/api/v1/projects/${project.id}`;
    const url = new URL(path, strongroom.url);
    let refusedBefore = 0;
    // The connections of the crowd: to open them takes a part of the two seconds for which the first check waits.
    await Promise.all(
      Array.from({ length: CROWD }, async () => (await fetch(new URL('/livez', strongroom.url))).text()),
    );

    const [replies, meanwhile] = await withClient(strongroom.databaseUrl, async (client) => {
      // No check comes to its end for a moment.
      await client.query('begin');
      await client.query('lock table access_token, access_change in access exclusive mode');
      const ask = async () => {
        const reply = await fetch(url, { headers: { authorization: `Bearer ${admin.token}` } });
        if (reply.status === 503) refusedBefore += 1;
        const body = (await reply.json()) as { code?: string };
        return { status: reply.status, retryAfter: reply.headers.get('retry-after'), body };
      };
      const checked = ask();
      // Those that come at the same moment share its check.
      await untilWaiting(strongroom, 1);
      const crowd = [checked, ...Array.from({ length: CROWD - 1 }, ask)];
      await until('all to be refused that there is no room for', 20_000, () => refusedBefore === REFUSED);
      const asked = other.get(path);
      await client.query('commit');
      return [await Promise.all(crowd), await asked] as const;
    });

    expect(meanwhile.status).toBe(200);
    const refused = replies.filter(({ status }) => status !== 200);
    for (const { status, retryAfter, body } of refused) {
      expect([status, body.code]).toEqual([503, 'OVERLOADED']);
      expect(Number(retryAfter)).toBeGreaterThan(0);
    }
    expect(refused).toHaveLength(REFUSED);
    // It is whole again.
    mustSucceed(await admin.get(path));
  });
});
