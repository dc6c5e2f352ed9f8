import { z } from 'zod';

/**
 * What is limited, and how often it passes in a window: for each token `reads`, `writes` and `mints` of credentials; for each
 * address `failures` (of logins and token checks) and `anonymous` requests.
 */
export const DEFAULT_QUOTAS = { reads: 600, writes: 200, mints: 60, failures: 60, anonymous: 300 } as const;

const DEFAULT_SECONDS = 60;
const MOST = 1_000_000_000;
const LONGEST_SECONDS = 86_400;

export type LimitName = keyof typeof DEFAULT_QUOTAS;

/** How often what passes. */
export interface RateLimitSettings {
  readonly quotas: Readonly<Record<LimitName, number>>;
  /** Length of the window. */
  readonly seconds: number;
}

const NAMES: readonly string[] = [...Object.keys(DEFAULT_QUOTAS), 'seconds'];
const ENTRY = /^(?<name>[a-z]+)=(?<amount>[1-9]\d{0,9})$/;
const FAULT = `must be ${NAMES.map((name) => `${name}=N`).join(',')}, each of them or not, N a whole number from 1 to ${MOST} (seconds: to ${LONGEST_SECONDS})`;

/** `RATE_LIMITS`: `reads=600,seconds=60`; what is not named has its default. */
export const rateLimitSettings = z.string().transform((text, check): RateLimitSettings => {
  const entries = text.split(',').map((entry) => ENTRY.exec(entry.trim())?.groups ?? {});
  const given = Object.fromEntries(entries.map(({ name = '', amount }) => [name, Number(amount)]));
  const isRight =
    Object.keys(given).length === entries.length &&
    Object.entries(given).every(
      ([name, amount]) => NAMES.includes(name) && amount <= (name === 'seconds' ? LONGEST_SECONDS : MOST),
    );
  if (!isRight) {
    check.addIssue({ code: 'custom', message: FAULT });
    return z.NEVER;
  }
  const { seconds = DEFAULT_SECONDS, ...quotas } = given;
  return { quotas: { ...DEFAULT_QUOTAS, ...quotas }, seconds };
});

/** Without `RATE_LIMITS`. */
export const DEFAULT_RATE_LIMITS: RateLimitSettings = { quotas: DEFAULT_QUOTAS, seconds: DEFAULT_SECONDS };
