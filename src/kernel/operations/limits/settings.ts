import { keyValueList } from '../../value-rules.js';

/**
 * What is limited, and how often it passes in a window: for each token `reads`, `writes` and `mints` of credentials; for each actor
 * `lookups` of values; for each address `failures` (of logins and token checks; with tokens of platforms for each identity there, and some
 * times as many for all of them) and `anonymous` requests.
 */
const DEFAULT_QUOTAS = { reads: 600, writes: 200, mints: 60, lookups: 30, failures: 60, anonymous: 300 } as const;
const DEFAULT_SECONDS = 60;
const LONGEST_SECONDS = 86_400;

export type LimitName = keyof typeof DEFAULT_QUOTAS;

/** How often what passes. */
export interface RateLimitSettings {
  readonly quotas: Readonly<Record<LimitName, number>>;
  /** Length of the window. */
  readonly seconds: number;
}

/** Without `RATE_LIMITS`. */
export const DEFAULT_RATE_LIMITS: RateLimitSettings = { quotas: DEFAULT_QUOTAS, seconds: DEFAULT_SECONDS };

/** `RATE_LIMITS`: `reads=600,seconds=60`. */
export const rateLimitSettings = keyValueList(
  { ...DEFAULT_QUOTAS, seconds: DEFAULT_SECONDS },
  { seconds: LONGEST_SECONDS },
).transform(({ seconds, ...quotas }): RateLimitSettings => ({ quotas, seconds }));
