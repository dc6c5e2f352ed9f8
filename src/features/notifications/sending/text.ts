/** Control characters, line breaks, and characters that change text direction. */
const UNPRINTABLE = /[\s\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** Severity of a notification. */
export type Severity = 'critical' | 'error' | 'warning' | 'info';

/** Urgency: a severity for programs and a label for people. */
export interface Urgency {
  readonly severity: Severity;
  /** Empty: no label is shown. */
  readonly label: string;
}

/** For items without a time. */
export const NOT_URGENT: Urgency = { severity: 'info', label: '' };

/** Urgency by days until expiration, most urgent first. */
const URGENCIES: readonly (Urgency & { readonly mostDays: number })[] = [
  { mostDays: -1, severity: 'critical', label: 'Expired' },
  { mostDays: 7, severity: 'critical', label: 'Expires within 7 days' },
  { mostDays: 14, severity: 'error', label: 'Expires within 14 days' },
  { mostDays: 30, severity: 'warning', label: 'Expires within 30 days' },
  { mostDays: Number.POSITIVE_INFINITY, severity: 'info', label: 'Expires in more than 30 days' },
];

/** The urgency for a number of days left; negative if expired. */
export const urgencyOf = (daysLeft: number): Urgency =>
  URGENCIES.find(({ mostDays }) => daysLeft <= mostDays) ?? NOT_URGENT;

/** Converts to one line of at most this many code units; longer strings are cut and end in an ellipsis. */
export function fitted(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNPRINTABLE, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Joins a list and cuts it: `a.example.com, b.example.com and 3 more`. Empty for an empty list. */
export function listText(text: string | readonly string[], mostNames: number, most: number): string {
  if (typeof text === 'string') return fitted(text, most);
  const shown = text.slice(0, mostNames).map((name) => fitted(name, most));
  const omitted = text.length - shown.length;
  return `${shown.join(', ')}${omitted > 0 ? ` ${andMore(omitted)}` : ''}`;
}

/** `and 1,200 more` */
export const andMore = (count: number): string => `and ${count.toLocaleString('en-US')} more`;

/** `in 5 days`, `today`, `3 days ago` */
export function daysText(daysLeft: number): string {
  if (daysLeft === 0) return 'today';
  const days = Math.abs(daysLeft);
  const text = `${days.toLocaleString('en-US')} ${days === 1 ? 'day' : 'days'}`;
  return daysLeft > 0 ? `in ${text}` : `${text} ago`;
}

/** Expiration in a number of days, at this time. */
export const expiry = (daysLeft: number, time: Date) => ({
  verb: daysLeft < 0 ? 'Expired' : 'Expires',
  text: daysText(daysLeft),
  time,
});

/** `2026-12-01 09:30 UTC` */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
