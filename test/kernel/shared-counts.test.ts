import type { Database, Query } from '../../src/kernel/database/database.js';
import type { Log } from '../../src/kernel/log.js';
import { Buckets } from '../../src/kernel/operations/limits/buckets.js';
import { DEFAULT_RATE_LIMITS } from '../../src/kernel/operations/limits/settings.js';
import { SharedCounts } from '../../src/kernel/operations/limits/shared-counts.js';

test('counts that the database refuses keep no others from being shared', async () => {
  const stored: number[] = [];
  const warnings: string[] = [];
  let isPoisoned = true;
  // A statement that fails on data where one of its amounts is 7.
  const query: Query = async (_, [, , amounts = []] = []) => {
    const given = amounts as number[];
    if (isPoisoned && given.includes(7)) throw Object.assign(new Error('check'), { code: '23514' });
    stored.push(...given);
    return [{ now: 0, counts: [] }] as never[];
  };
  const database = { withConnection: (work: (query: Query) => unknown) => work(query) } as unknown as Database;
  const log = { warn: (message: string) => warnings.push(message) } as unknown as Log;
  const buckets = new Buckets(DEFAULT_RATE_LIMITS);
  const counts = new SharedCounts(buckets, database, Buffer.alloc(32), log);
  for (let amount = 1; amount <= 20; amount += 1) buckets.take(buckets.find('reads', `token:${amount}`), amount);

  await counts.close();
  expect(stored.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, at) => at + 1).filter((amount) => amount !== 7),
  );
  expect(warnings).toEqual(['shared rate limits unavailable']);

  // And it is whole again: the one was kept.
  isPoisoned = false;
  await counts.close();
  expect(stored).toHaveLength(20);
});
