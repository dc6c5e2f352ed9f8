import { fuzzContract } from '../../kit/fuzz/contract.js';
import { propertySeed } from '../../kit/property-seed.js';
import { rounds } from '../../kit/scope.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';

const REQUESTS = rounds(500);

describe('the documented contract', () => {
  const strongroom = useSharedStrongroom(LENIENT, 'every operation');

  test(`holds for ${REQUESTS} requests that are right, nearly right and wrong`, async () => {
    const { faults, statuses } = await fuzzContract(strongroom.seed, REQUESTS, propertySeed);
    expect({ propertySeed, faults }).toEqual({ propertySeed, faults: [] });
    // Neither all refused nor all accepted: then it would be no test.
    for (const status of [200, 404, 422]) expect(statuses.get(status)).toBeGreaterThan(REQUESTS / 50);
  });
});
