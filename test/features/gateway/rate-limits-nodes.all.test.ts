import { setTimeout as delay } from 'node:timers/promises';
import { mintToken } from '../../../src/kernel/crypto/token.js';
import { Caller, type Reply } from '../../kit/caller.js';
import { type SecondNode, type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { exhaust, newAddress, newCallerAt, PROJECTS, passed, QUOTAS, startLimited } from './limited.js';

const strongroom: Strongroom = useStrongroom();

describe('two nodes', () => {
  const SHARED = { ...QUOTAS, reads: 100 };
  let nodes: readonly [SecondNode, SecondNode];
  beforeAll(async () => {
    nodes = await Promise.all([startLimited(strongroom, SHARED), startLimited(strongroom, SHARED)]);
  });
  afterAll(async () => {
    for (const each of nodes) await each.stop();
  });

  /** Twice the limit, at the pace of a busy client. */
  async function send(caller: Caller, urlOf: (index: number) => string): Promise<Reply[]> {
    const replies: Reply[] = [];
    for (let index = 0; index < 2 * SHARED.reads; index += 1) {
      replies.push(await caller.at(urlOf(index)).get(PROJECTS));
      await delay(5);
    }
    return replies;
  }

  test.each([
    ['evenly', (index: number) => index % 2],
    ['first to one and then to the other', (index: number) => (index < SHARED.reads ? 0 : 1)],
    ['nine of ten to one', (index: number) => (index % 10 === 9 ? 1 : 0)],
  ])('share a limit when requests come %s', async (_, nodeOf) => {
    const caller = await newCallerAt(nodes[0], strongroom);

    const accepted = passed(await send(caller, (index) => (nodes[nodeOf(index)] as SecondNode).url));

    expect(accepted).toBeGreaterThanOrEqual(0.9 * SHARED.reads);
    expect(accepted).toBeLessThanOrEqual(1.2 * SHARED.reads);
  });

  test('limit each for itself while they cannot tell each other, and answer', async () => {
    const caller = await newCallerAt(nodes[0], strongroom);
    await strongroom.sql('alter table rate_limit_count rename to rate_limit_away');
    try {
      for (const { url } of nodes) {
        const replies = await exhaust(() => caller.at(url).get(PROJECTS), 2 * SHARED.reads);
        expect(passed(replies)).toBe(SHARED.reads);
      }
    } finally {
      await strongroom.sql('alter table rate_limit_away rename to rate_limit_count');
    }
    const total = 'select coalesce(sum(amount), 0)::int as total from rate_limit_count where amount >= 0';
    const before = (await strongroom.sql<{ total: number }>(total))[0]?.total ?? 0;
    const other = await newCallerAt(nodes[0], strongroom);
    await other.at(nodes[0].url).get(PROJECTS);
    // What was counted meanwhile is told once it can be.
    await until('the counts to be told', 20_000, async () => {
      const [row] = await strongroom.sql<{ total: number }>(total);
      return (row?.total ?? 0) > before;
    });
  });

  test('keep nothing in the database that names who was there, and nothing for long', async () => {
    const address = newAddress();
    await new Caller(nodes[0].url, mintToken()).get(PROJECTS, { 'x-forwarded-for': address });
    const rows = () => strongroom.sql('select * from rate_limit_count');
    await until('the count to be told', 20_000, async () => (await rows()).length > 0);
    expect(JSON.stringify(await rows())).not.toContain(address);

    await strongroom.advanceClock(3600);

    await until('old counts to be deleted', 20_000, async () => {
      // Those that a node told after the clock was moved.
      await strongroom.sql(
        `update rate_limit_count set expires_at = expires_at - interval '1 hour' where expires_at > now()`,
      );
      return (await rows()).length === 0;
    });
  });
});
