import * as z from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';

export const DAY_MS = 86_400_000;
const UNITS_MS = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
} as const;
const TTL = /^[1-9]\d{0,9}[smhdwy]$/;
/** No certificate is valid for longer. */
export const MAX_DAYS = 36_500;

/** Other ways to say how long a new certificate is valid than in days. */
export const lifetime = {
  ttl: z.string().regex(TTL, 'must be a number and a unit, for example 90d, 12h or 1y').nullish().meta({
    description:
      'Validity as a number and a unit, instead of `validDays`: `s`, `m` (minutes), `h`, `d`, `w` or `y` (365 days), for example `12h`.',
  }),
  notAfter: z.date().nullish().meta({
    description: 'End of the validity, instead of `validDays`: in the future, and not beyond the issuer.',
  }),
};

/** How long a new certificate is to be valid; all absent: as long as usual. */
export interface Lifetime {
  readonly validDays?: number | null | undefined;
  readonly ttl?: string | null | undefined;
  readonly notAfter?: Date | null | undefined;
}

const FIELDS = ['validDays', 'ttl', 'notAfter'] as const;
/** The fields that say it. */
export const fieldsOf = (life: Lifetime): readonly (typeof FIELDS)[number][] =>
  FIELDS.filter((field) => life[field] != null);

/** Refinement of inputs with these fields: only one of them may be set. */
export const refuseTwoLifetimes = (input: object, issues: z.core.$RefinementCtx): void => {
  const [first, ...others] = fieldsOf(input);
  for (const field of others)
    issues.addIssue({ code: 'custom', path: [field], message: `must be absent if ${first} is set` });
};

/** An end of a validity, and the field that asks for it. */
interface RequestedEnd {
  readonly path: (typeof FIELDS)[number];
  readonly end: Date;
}

/** The end that is asked for, in whole seconds, as certificates have it; null: none. */
export function requestedEnd(life: Lifetime, from: Date): RequestedEnd | null {
  const { validDays, ttl, notAfter } = life;
  const [path] = fieldsOf(life);
  if (path === undefined) return null;
  if (notAfter != null) return { path, end: new Date(Math.floor(notAfter.getTime() / 1_000) * 1_000) };
  const lengthMs =
    ttl == null
      ? (validDays ?? 0) * DAY_MS
      : Number.parseInt(ttl, 10) * UNITS_MS[ttl.slice(-1) as keyof typeof UNITS_MS];
  return { path, end: new Date(from.getTime() + Math.min(lengthMs, (MAX_DAYS + 1) * DAY_MS)) };
}

/** What is wrong with an end by itself, or against the limit of a profile. */
export function violationsOfEnd(
  { path, end }: RequestedEnd,
  { from, now, maxDays }: { readonly from: Date; readonly now: Date; readonly maxDays: number | null },
): ErrorDetail[] {
  if (end <= now) return [{ path, code: 'NOT_IN_FUTURE', message: 'must be in the future' }];
  const most = Math.min(maxDays ?? MAX_DAYS, MAX_DAYS);
  if (end.getTime() <= from.getTime() + most * DAY_MS) return [];
  return [
    {
      path,
      code: 'TOO_BIG',
      message: path === 'validDays' ? `must be at most ${most}` : `must be at most ${most} days away`,
    },
  ];
}
