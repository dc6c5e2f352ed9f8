import { randomInt } from 'node:crypto';
import { Caller } from '../kit/caller.ts';
import { withClient } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const LIMIT = 60;
const CLIENTS = 8;

/** Calls until the token is used up or the service is gone, and answers how often it passed. */
async function useUp(holder: Caller): Promise<number> {
  let passed = 0;
  for (;;) {
    const reply = await holder.get('/api/v1/projects').catch(() => null);
    if (reply === null) return passed;
    if (reply.status === 401) {
      expectThat(reply.body.code === 'TOKEN_USES_EXHAUSTED', `it was answered ${reply.body.code}`);
      return passed;
    }
    expectThat(reply.status === 200, `it was answered ${reply.status}: ${reply.text}`);
    passed += 1;
  }
}

const together = async (holder: Caller): Promise<number> =>
  (await Promise.all(Array.from({ length: CLIENTS }, () => useUp(holder)))).reduce((sum, passed) => sum + passed, 0);

/** @throws Error when there are more passes than uses, or more uses than the limit */
async function killBetween(installation: Installation): Promise<{ passed: number; before: number }> {
  const admin = await installation.admin();
  const seed = await installation.seed();
  const tokenAuth = { accessTokenNumUsesLimit: LIMIT };
  const { token, identityId } = await seed.caller(admin, { organizationRole: 'member', tokenAuth });
  const using = together(new Caller(installation.service.url, token));
  await new Promise((resolve) => setTimeout(resolve, randomInt(5, 60)));
  await installation.service.kill();
  const before = await using;
  await installation.start();
  const passed = before + (await together(new Caller(installation.service.url, token)));
  const uses = await withClient(await installation.databaseUrl(), async (client) => {
    const { rows } = await client.query('select num_uses::int as uses from access_token where identity_id = $1', [
      identityId,
    ]);
    return rows[0].uses as number;
  });
  expectThat(uses === LIMIT, `${uses} uses are counted`);
  expectThat(passed <= LIMIT, `it passed ${passed} times`);
  return { passed, before };
}

export const check: Check = {
  id: 'C15',
  title: 'kill -9 between the count of a use and its answer',
  fullTimes: 20,
  run: (times) =>
    withInstallation(async (installation) => {
      let lost = 0;
      let cut = 0;
      await repeat(times, async () => {
        const { passed, before } = await killBetween(installation);
        lost += LIMIT - passed;
        if (before < LIMIT) cut += 1;
      });
      return `${times} tokens of ${LIMIT} uses, ${cut} cut short by the kill, never more than ${LIMIT} passes, ${lost} uses lost`;
    }),
};
