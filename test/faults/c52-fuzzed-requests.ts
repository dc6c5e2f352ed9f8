import { randomInt } from 'node:crypto';
import { fuzzContract } from '../kit/fuzz/contract.ts';
import { type Check, expectThat } from './check.ts';
import { withInstallation } from './installation.ts';

const REQUESTS_A_TIME = 500;

/** The documents ask for all that there is. */
const EVERYTHING = { GRAPHQL_LIMITS: 'tokens=4000,cost=100000,objects=100000' };

export const check: Check = {
  id: 'C52',
  title: 'fuzzed requests against the documented contract',
  fullTimes: 20,
  // test/features/gateway/contract.test.ts sends as many, always the same.
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      const seed = randomInt(2 ** 30);
      const requests = times * REQUESTS_A_TIME;
      const { faults, statuses } = await fuzzContract(await installation.seed(), requests, seed);
      expectThat(faults.length === 0, `${faults.length} answers break it (seed ${seed}), the first:\n${faults[0]}`);
      const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status} ${count} times`);
      return `${requests} requests, seed ${seed}: ${counts.join(', ')}`;
    }, EVERYTHING),
};
