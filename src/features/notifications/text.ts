/** Control characters, line ends, and what turns the direction of a line around. */
const UNPRINTABLE = /[\s\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** How much something matters. */
export type Severity = 'critical' | 'error' | 'warning' | 'info';

/** How urgent something is, in a word for programs and one for people. */
export interface Urgency {
  readonly severity: Severity;
  /** Empty: nothing is said of it. */
  readonly label: string;
}

/** Of what has no time. */
export const NOT_URGENT: Urgency = { severity: 'info', label: '' };

/** How urgent it is that something expires, most urgent first. Source: specification, Certificate alert. */
const URGENCIES: readonly (Urgency & { readonly mostDays: number })[] = [
  { mostDays: -1, severity: 'critical', label: 'Expired' },
  { mostDays: 7, severity: 'critical', label: 'Expires within 7 days' },
  { mostDays: 14, severity: 'error', label: 'Expires within 14 days' },
  { mostDays: 30, severity: 'warning', label: 'Expires within 30 days' },
  { mostDays: Number.POSITIVE_INFINITY, severity: 'info', label: 'Expires in more than 30 days' },
];

/** How urgent it is that so many days are left; below 0: it has expired. */
export const urgencyOf = (daysLeft: number): Urgency =>
  URGENCIES.find(({ mostDays }) => daysLeft <= mostDays) ?? NOT_URGENT;

/** On one line, and no longer than this, by code units; what is cut ends in an ellipsis. */
export function fitted(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNPRINTABLE, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A string, or the first of a list: `a.example.com, b.example.com and 3 more`. Empty for an empty list. */
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

/** That something expires so many days from now, at this time. */
export const expiry = (daysLeft: number, time: Date) => ({
  verb: daysLeft < 0 ? 'Expired' : 'Expires',
  text: daysText(daysLeft),
  time,
});

/** `2026-12-01 09:30 UTC` */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
