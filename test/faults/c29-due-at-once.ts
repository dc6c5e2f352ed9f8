import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

const ROTATIONS = 1_000;
const WITHIN_MS = 600_000;
const AT_ONCE = 10;

export const check: Check = {
  id: 'C29',
  title: `${ROTATIONS} rotations that are due at once, on two nodes`,
  fullTimes: 1,
  needsQuiet: true,
  run: async (times) => {
    await withRotating(times, async (alone) => {
      const { rotating } = alone;
      for (let made = 0; made < ROTATIONS; made += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, () => rotating.create()));
      const other = await alone.anotherNode();
      try {
        await alone.sql(`update secret_rotation set next_rotation_at = now()`);
        await until('all to have run', WITHIN_MS, async () => {
          const [row] = await alone.sql('select count(*) from secret_rotation where generation < 2');
          return Number(row?.count) === 0;
        });
        const [row] = await alone.sql(
          'select count(*) filter (where generation <> 2 or attempts <> 2) as odd, count(*) from secret_rotation',
        );
        expectThat(Number(row?.odd) === 0, `${row?.odd} of ${row?.count} ran more than once`);
        const made = rotating.fake.tokens.all().length;
        expectThat(made === 2 * ROTATIONS, `${made} tokens were made`);
      } finally {
        await other.stop();
      }
    });
    return `${times * ROTATIONS} rotations ran by themselves, none of them twice`;
  },
};
