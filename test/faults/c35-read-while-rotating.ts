import { mustSucceed } from '../kit/caller.ts';
import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

const ROTATIONS = 100;
const PAUSE_MS = 20;

export const check: Check = {
  id: 'C35',
  title: `${ROTATIONS} rotations, and a reader every ${PAUSE_MS} ms`,
  fullTimes: 1,
  needsQuiet: true,
  run: async (times) => {
    let reads = 0;
    await withRotating(times, async ({ rotating }) => {
      const { id } = await rotating.create();
      let isOver = false;
      const reading = (async () => {
        while (!isOver) {
          const value = await rotating.secretOf(id);
          expectThat(rotating.fake.tokens.works(value), 'a value was read that does not work');
          reads += 1;
          await new Promise((wake) => setTimeout(wake, PAUSE_MS));
        }
      })();
      for (let rotation = 0; rotation < ROTATIONS; rotation += 1) mustSucceed(await rotating.rotate(id));
      isOver = true;
      await reading;
      await rotating.settled();
      await rotating.expectWhole(id);
    });
    return `${times * ROTATIONS} rotations, ${reads} values read, every one of which worked`;
  },
};
