import type { RetryPolicy } from './job-kind.js';

/**
 * Pause before the next attempt: doubles with each, between half of it and all of it at random, so that jobs that failed together
 * do not come back together.
 *
 * @param failed attempts so far, 1 or more
 * @param random from 0 to 1
 * @returns seconds; null when there is no further attempt
 */
export function backoffSeconds(
  { firstSeconds, longestSeconds, attempts }: RetryPolicy,
  failed: number,
  random: number,
): number | null {
  if (failed >= attempts) return null;
  const whole = Math.min(firstSeconds * 2 ** Math.min(failed - 1, 40), longestSeconds);
  return (whole * (1 + random)) / 2;
}
