import type { LimitName } from './settings.js';

/** How a limit stands. */
export interface LimitState {
  readonly name: LimitName;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Until there is more; where nothing is left: until what was asked for passes. */
  readonly resetSeconds: number;
}

/**
 * The header fields of a counted answer: `RateLimit-Policy` and `RateLimit` tell all limits that it counts in, in the form of
 * the present draft; `RateLimit-Limit`, `-Remaining` and `-Reset`, which clients know from the drafts before, the one of which
 * the least is left. Source: draft-ietf-httpapi-ratelimit-headers-10 and -06.
 */
export function limitHeaders(states: readonly LimitState[]): Record<string, string> {
  const [tightest] = states.toSorted((a, b) => a.remaining - b.remaining || b.resetSeconds - a.resetSeconds);
  if (tightest === undefined) return {};
  return {
    'ratelimit-policy': states.map(({ name, quota, windowSeconds: w }) => `"${name}";q=${quota};w=${w}`).join(', '),
    ratelimit: states
      .map(({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`)
      .join(', '),
    'ratelimit-limit': String(tightest.quota),
    'ratelimit-remaining': String(tightest.remaining),
    'ratelimit-reset': String(tightest.resetSeconds),
  };
}
