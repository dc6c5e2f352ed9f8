import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type AtTwoNodes, withTwoNodes } from './two-nodes.ts';

const SKEW_MS = 10 * 60_000;
const TTL_SECONDS = 4;
const ERROR_MS = 1_000;
const PAUSE_MS = 50;
const JUST_NOW_MS = 120_000;

const skewed = (ms: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'skewed-clock.mjs')).href}?ms=${ms}`,
});

/**
 * How far the clock of a node is ahead of ours, which is that of the database: both are of this machine. By the time at which
 * it says that it was started, a moment ago.
 */
async function aheadMs(admin: Caller): Promise<number> {
  const { text } = await admin.anonymous.get('/metrics');
  return Number(/^process_start_time_seconds (\d+)/m.exec(text)?.[1]) * 1_000 - Date.now();
}

interface Use {
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
  readonly code: unknown;
}

/** Uses a token at one node without much pause, until some time after its end. */
async function useUntil(holder: Caller, end: number): Promise<Use[]> {
  const uses: Use[] = [];
  while (Date.now() < end) {
    const sentAt = Date.now();
    const { status, body } = await holder.get('/api/v1/projects');
    uses.push({ sentAt, answeredAt: Date.now(), status, code: body.code });
    await delay(PAUSE_MS);
  }
  return uses;
}

/** A token of one node, used at both. @throws Error when it passes after its end, or does not before */
async function judgeEdge(admin: AtTwoNodes, seed: Seed, issuer: number): Promise<number> {
  const { identityId } = await seed.caller(admin[0], {
    organizationRole: 'member',
    tokenAuth: { accessTokenTTL: TTL_SECONDS },
  });
  const begun = Date.now();
  const path = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
  const { accessToken } = mustSucceed(await (admin[issuer] as Caller).post(path, {})).body;
  // It ends between these two, as its life began between the request and the answer.
  const [earliest, latest] = [begun + TTL_SECONDS * 1_000, Date.now() + TTL_SECONDS * 1_000];
  const holders = admin.map(({ url }) => new Caller(url, accessToken));
  const uses = (await Promise.all(holders.map((holder) => useUntil(holder, latest + 2 * ERROR_MS)))).flat();
  const early = uses.filter(({ answeredAt, status }) => answeredAt < earliest - ERROR_MS && status !== 200);
  const late = uses.filter(({ sentAt, code }) => sentAt > latest + ERROR_MS && code !== 'TOKEN_EXPIRED');
  expectThat(early.length === 0, `${early.length} uses were refused too early: ${early[0]?.status} ${early[0]?.code}`);
  expectThat(late.length === 0, `${late.length} uses passed too late: ${late[0]?.status} ${late[0]?.code}`);
  for (const isPassed of [true, false]) {
    expectThat(
      uses.some(({ status }) => (status === 200) === isPassed),
      `the token was ${isPassed ? 'never good' : 'good to the end'}`,
    );
  }
  return uses.length;
}

export const check: Check = {
  id: 'C14',
  title: 'tokens end by the clock of the database, on nodes whose clocks are ten minutes off',
  fullTimes: 20,
  needsQuiet: true,
  run: (times) =>
    withTwoNodes(
      async (admin) => {
        const skews = await Promise.all(admin.map(aheadMs));
        expectThat(
          Math.abs((skews[0] as number) - SKEW_MS) < JUST_NOW_MS &&
            Math.abs((skews[1] as number) + SKEW_MS) < JUST_NOW_MS,
          `the clocks of the nodes are ahead by ${skews} ms`,
        );
        const seed = new Seed(admin[0]);
        let uses = 0;
        await repeat(times, async () => {
          const both = await Promise.all([0, 1].map((issuer) => judgeEdge(admin, seed, issuer)));
          uses += both.reduce((sum, count) => sum + count, 0);
        });
        return `${times * 2} tokens, ${uses} uses at two nodes, none wrong by more than ${ERROR_MS} ms`;
      },
      [skewed(SKEW_MS), skewed(-SKEW_MS)],
    ),
};
