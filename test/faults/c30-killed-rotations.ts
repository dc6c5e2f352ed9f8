import { MOMENTS } from '../kit/rotating-alone.ts';
import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

export const check: Check = {
  id: 'C30',
  title: `SIGKILL at each of ${MOMENTS.length} steps of a rotation of tokens`,
  fullTimes: 10,
  needsQuiet: true,
  run: async (times) => {
    await withRotating(times, async (alone) => {
      const { rotating } = alone;
      for (const { name, reach } of MOMENTS) {
        const { id } = await rotating.create();
        await rotating.expectRotates(id);
        const letGo = await reach(alone, id);
        await alone.killAndRestart();
        await letGo();
        await rotating.endLeases();
        await rotating.settled();
        await rotating.expectWhole(id);
        const live = rotating.liveTokens(id).length;
        expectThat(live <= 2, `${live} tokens are live after: ${name}`);
        await rotating.expectRotates(id);
      }
    });
    return `${times * MOMENTS.length} kills: each ended in success with at most 2 live tokens, none unknown`;
  },
};
