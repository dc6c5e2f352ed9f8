import { RotatingAlone } from '../kit/rotating-alone.ts';
import { withPostgres } from './installation.ts';

/** Runs work once for each number from 0, all of them on one service with a database of its own. */
export const withRotating = (
  times: number,
  work: (alone: RotatingAlone, time: number) => Promise<void>,
): Promise<void> =>
  withPostgres(async (freshDatabase) => {
    const alone = await RotatingAlone.start({ DATABASE_URL: await freshDatabase('rotating') });
    try {
      for (let time = 0; time < times; time += 1) await work(alone, time);
    } finally {
      await alone.stop();
    }
  });
