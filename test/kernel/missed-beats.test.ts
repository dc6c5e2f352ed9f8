import { MissedBeats } from '../../src/kernel/operations/watchdog/missed-beats.js';
import fc from '../kit/properties.js';

const LIMIT = 4;

/** The ticks, counted from 0, at which a loop with these heartbeats is judged to stand still. */
function analysed(beats: readonly number[]): number[] {
  const missedBeats = new MissedBeats(LIMIT);
  return beats.flatMap((beat, tick) => (missedBeats.isTooLong(beat) ? [tick] : []));
}

describe('a loop that is watched', () => {
  test('stands still when as many ticks as the limit bring no new heartbeat', () => {
    expect(analysed([2, 2, 2, 2])).toEqual([]);
    expect(analysed([2, 2, 2, 2, 2])).toEqual([4]);
    expect(analysed([2, 4, 4, 4, 4, 4])).toEqual([5]);
  });

  test('is never judged by what lies before its last heartbeat', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: LIMIT }), { maxLength: 30 }), (runs) => {
        expect(analysed(runs.flatMap((length, index) => Array.from({ length }, () => 2 * index)))).toEqual([]);
      }),
    );
  });

  test('may stand still while its heartbeat is odd: a debugger is attached', () => {
    expect(analysed([2, 3, 3, 3, 3, 3, 3, 3])).toEqual([]);
    expect(analysed([3, 4, 4, 4, 4, 4])).toEqual([5]);
  });
});
