import { setTimeout as delay } from 'node:timers/promises';
import { type Caller, isTooBusy, mustSucceed, type Reply } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type AtTwoNodes, withTwoNodes } from './two-nodes.ts';

const PAUSE_MS = 5;
/** Readings that wait for their answers: a slow machine is asked less often. */
const MOST_WAITING = 60;
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
      make: () => here.patient.patch('/api/v4/secrets/KEY', { ...place, secretValue: value }),
    },
    {
      who: 'revoked',
      sees: ({ status }) => status === 401,
      make: () => there.patient.anonymous.post('/api/v1/auth/token/revoke', { accessToken: callers.revoked.token }),
    },
    {
      who: 'demoted',
      sees: ({ status }) => status === 403,
      make: () => there.patient.patch(member, { roles: [{ role: 'no-access' }] }),
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
    changes.every(({ who }, index) => load.seenAfter(who, answeredAt[index] as number) >= FEWEST_AFTER),
  );
  judge(await load.stop(), changes, answeredAt, counted);
}

interface Load {
  /** Readings that were answered. */
  readonly answered: () => number;
  /** Readings that began after a moment and were answered. */
  readonly seenAfter: (who: Reading['who'], moment: number) => number;
  readonly stop: () => Promise<Reading[]>;
}

function readWithoutPause(admin: AtTwoNodes, callers: Readonly<Record<Reading['who'], Caller>>, path: string): Load {
  const asked: Promise<void>[] = [];
  const readings: Reading[] = [];
  let waiting = 0;
  const names = Object.keys(callers) as Reading['who'][];
  const ask = async (who: Reading['who'], node: Caller): Promise<void> => {
    const begunAt = performance.now();
    waiting += 1;
    const reply = await callers[who].at(node.url).get(path);
    waiting -= 1;
    // Who is told to come back has seen no state, neither the old nor the new one.
    if (!isTooBusy(reply)) readings.push({ begunAt, who, reply });
  };
  const timer = setInterval(() => {
    if (waiting >= MOST_WAITING) return;
    const who = names[asked.length % names.length] as Reading['who'];
    asked.push(ask(who, admin[Math.floor(asked.length / names.length) % 2] as Caller));
  }, PAUSE_MS);
  return {
    answered: () => readings.length,
    seenAfter: (who, moment) => readings.filter((each) => each.who === who && each.begunAt > moment).length,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(asked);
      return readings;
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
