import { targetPauseSeconds } from '../../../src/kernel/jobs/job-kind.js';

const HOUR = 3_600;

describe('the pause before an external system is called again', () => {
  const pauses = (failed: number, requested?: number) =>
    Array.from({ length: 50 }, () => targetPauseSeconds(failed, requested));

  test('doubles with each failure, up to six hours, and is spread over its second half', () => {
    for (const [failed, longest] of [
      [1, 30],
      [2, 60],
      [9, 7_680],
      [40, 6 * HOUR],
      [10_000, 6 * HOUR],
    ] as const) {
      expect(Math.max(...pauses(failed))).toBeLessThanOrEqual(longest);
      expect(Math.min(...pauses(failed))).toBeGreaterThanOrEqual(longest / 2);
      expect(new Set(pauses(failed)).size).toBeGreaterThan(1);
    }
  });

  test('is as long as the system asks for, but no longer than six hours', () => {
    expect(new Set(pauses(1, HOUR))).toEqual(new Set([HOUR]));
    expect(new Set(pauses(1, 24 * HOUR))).toEqual(new Set([6 * HOUR]));
    expect(Math.min(...pauses(9, 1))).toBeGreaterThan(1);
  });
});
