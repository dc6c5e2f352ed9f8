import { setTimeout as delay } from 'node:timers/promises';
import { type Caller, mustSucceed, type Reply } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type AtTwoNodes, withTwoNodes } from './two-nodes.ts';

const PAUSE_MS = 5;
const BEFORE_MS = 250;
const AFTER_MS = 250;
/** Readings of all callers before the changes, and of each after its change, however slow the machine is. */
const FEWEST_BEFORE = 30;
const FEWEST_AFTER = 5;

interface Reading {
  readonly begunAt: number;
  readonly who: 'reader' | 'revoked' | 'demoted';
  readonly reply: Reply;
}

/** What a kind of reader must see from a moment on. */
interface Change {
  readonly who: Reading['who'];
  readonly sees: (reply: Reply) => boolean;
  readonly make: () => Promise<Reply>;
}

/** What was counted: how many readings there were, how many of them began after a change that they were to see. */
export interface Counted {
  readings: number;
  analysed: number;
}

/**
 * 200 readings a second of one list, at two nodes, by three callers; in the middle of it the secret is written, the token of
 * the second is revoked, and the third loses its role.
 *
 * @throws Error when a reading that began after the answer to a change has not seen it
 */
export async function changeUnderLoad(
  admin: AtTwoNodes,
  { id: projectId }: { readonly id: string },
  counted: Counted,
): Promise<void> {
  const [here, there] = admin;
  const seed = new Seed(here);
  const place = { projectId, environment: 'dev' };
  const viewer = () => seed.caller(here, { project: projectId, projectRoles: ['viewer'] });
  const callers = { reader: await viewer(), revoked: await viewer(), demoted: await viewer() };
  const value = `value ${counted.readings}`;
  const member = `/api/v2/workspace/${projectId}/identity-memberships/${callers.demoted.identityId}`;
  const changes: readonly Change[] = [
    {
      who: 'reader',
      sees: ({ body }) => body?.secrets?.[0]?.secretValue === value,
      make: () => here.patch('/api/v4/secrets/KEY', { ...place, secretValue: value }),
    },
    {
      who: 'revoked',
      sees: ({ status }) => status === 401,
      make: () => there.anonymous.post('/api/v1/auth/token/revoke', { accessToken: callers.revoked.token }),
    },
    {
      who: 'demoted',
      sees: ({ status }) => status === 403,
      make: () => there.patch(member, { roles: [{ role: 'no-access' }] }),
    },
  ];
  const load = readWithoutPause(admin, callers, `/api/v4/secrets?${new URLSearchParams(place)}`);
  await delay(BEFORE_MS);
  await until('readings before the changes', 60_000, () => load.answered() >= FEWEST_BEFORE);
  const answeredAt = await Promise.all(
    changes.map(async ({ make }) => {
      mustSucceed(await make());
      return performance.now();
    }),
  );
  await delay(AFTER_MS);
  await until('readings after each change', 60_000, () =>
    changes.every(({ who }, index) => load.begunAfter(who, answeredAt[index] as number) >= FEWEST_AFTER),
  );
  judge(await load.stop(), changes, answeredAt, counted);
}

interface Load {
  /** Readings that were answered. */
  readonly answered: () => number;
  readonly begunAfter: (who: Reading['who'], moment: number) => number;
  readonly stop: () => Promise<Reading[]>;
}

function readWithoutPause(admin: AtTwoNodes, callers: Readonly<Record<Reading['who'], Caller>>, path: string): Load {
  const readings: Promise<Reading>[] = [];
  const begun: Omit<Reading, 'reply'>[] = [];
  let answered = 0;
  const names = Object.keys(callers) as Reading['who'][];
  const timer = setInterval(() => {
    const who = names[readings.length % names.length] as Reading['who'];
    const node = admin[Math.floor(readings.length / names.length) % 2] as Caller;
    const begunAt = performance.now();
    begun.push({ begunAt, who });
    readings.push(
      callers[who]
        .at(node.url)
        .get(path)
        .then((reply) => {
          answered += 1;
          return { begunAt, who, reply };
        }),
    );
  }, PAUSE_MS);
  return {
    answered: () => answered,
    begunAfter: (who, moment) => begun.filter((each) => each.who === who && each.begunAt > moment).length,
    stop: () => {
      clearInterval(timer);
      return Promise.all(readings);
    },
  };
}

function judge(
  readings: readonly Reading[],
  changes: readonly Change[],
  answeredAt: readonly number[],
  counted: Counted,
): void {
  for (const [index, { who, sees }] of changes.entries()) {
    const later = readings.filter((reading) => reading.who === who && reading.begunAt > (answeredAt[index] as number));
    const stale = later.filter(({ reply }) => !sees(reply));
    expectThat(
      stale.length === 0,
      `${stale.length} of ${later.length} readings (${who}) saw the old state, the first: ${stale[0]?.reply.status} ${stale[0]?.reply.text}`,
    );
    expectThat(later.length > 0, `no reading (${who}) began after the change`);
    counted.analysed += later.length;
  }
  counted.readings += readings.length;
}

/** Readings that two nodes answered from memory. */
export async function hitsOf(admin: AtTwoNodes): Promise<number> {
  const texts = await Promise.all(admin.map(async ({ anonymous }) => (await anonymous.get('/metrics')).text));
  return texts.reduce(
    (sum, text) => sum + Number(/^strongroom_reply_cache_requests_total\{result="hit"\} (\d+)/m.exec(text)?.[1] ?? 0),
    0,
  );
}

export const check: Check = {
  id: 'C13',
  title: 'what was changed under 200 readings a second on two nodes is seen by every later reading',
  fullTimes: 50,
  needsQuiet: true,
  run: (times) =>
    withTwoNodes(async (admin) => {
      const project = await new Seed(admin[0]).projectOf(admin[0]);
      const body = { projectId: project.id, environment: 'dev', secretValue: 'first' };
      mustSucceed(await admin[0].post('/api/v4/secrets/KEY', body));
      const counted: Counted = { readings: 0, analysed: 0 };
      await repeat(times, () => changeUnderLoad(admin, project, counted));
      const hits = await hitsOf(admin);
      expectThat(hits > 0, 'no reading was answered from memory');
      return `${times * 3} changes, ${counted.readings} readings, ${hits} from memory, ${counted.analysed} after a change, 0 stale`;
    }),
};
