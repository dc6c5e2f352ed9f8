import { LongTurn } from '../../src/kernel/operations/watchdog/main-thread.js';
import fc from '../kit/properties.js';

const LIMIT_MS = 1_000;

/** For each look, given as heartbeat and processor time, whether the turn is too long. */
function analysed(looks: readonly (readonly [beat: number, usedMs: number])[]): boolean[] {
  const longTurn = new LongTurn(LIMIT_MS);
  return looks.map(([beat, usedMs]) => longTurn.isTooLong(beat, usedMs));
}

describe('a loop that is watched', () => {
  test('is blocked when its thread has used as much of the processor as the limit since its last heartbeat', () => {
    expect(
      analysed([
        [1, 5_000],
        [1, 5_999],
        [1, 6_000],
      ]),
    ).toEqual([false, false, true]);
    expect(
      analysed([
        [1, 5_000],
        [2, 5_900],
        [2, 6_500],
        [2, 6_900],
      ]),
    ).toEqual([false, false, false, true]);
  });

  test('is not blocked while others have the processor, however often it is looked at', () => {
    expect(analysed(Array.from({ length: 1_000 }, () => [1, 700] as const))).not.toContain(true);
  });

  test('is never judged by what lies before its last heartbeat', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: LIMIT_MS - 1 }), { maxLength: 30 }), (turns) => {
        let usedMs = 0;
        const looks = turns.flatMap((turn, beat) => {
          const begun = usedMs;
          usedMs += turn;
          return [[beat, begun] as const, [beat, usedMs] as const];
        });
        expect(analysed(looks)).not.toContain(true);
      }),
    );
  });
});
