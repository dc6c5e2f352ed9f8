import type { NotifiedCertificate } from './notification.js';

/** Control characters, line ends, and what turns the direction of a line around. */
const UNPRINTABLE = /[\s\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** How urgent a certificate is, most urgent first. Source: specification, Certificate alert. */
const URGENCIES = [
  { mostDays: -1, severity: 'critical', label: 'Expired' },
  { mostDays: 7, severity: 'critical', label: 'Expires within 7 days' },
  { mostDays: 14, severity: 'error', label: 'Expires within 14 days' },
  { mostDays: 30, severity: 'warning', label: 'Expires within 30 days' },
  { mostDays: Number.POSITIVE_INFINITY, severity: 'info', label: 'Expires in more than 30 days' },
] as const;

export type Urgency = (typeof URGENCIES)[number];

/** How urgent it is that so many days are left. */
export const urgencyOf = (daysLeft: number): Urgency =>
  URGENCIES.find(({ mostDays }) => daysLeft <= mostDays) ?? URGENCIES[4];

/** The certificates that have room, those that expire first before others, and how many have none. */
export function soonest(
  certificates: readonly NotifiedCertificate[],
  most: number,
): { readonly shown: readonly NotifiedCertificate[]; readonly omitted: number } {
  const shown = certificates
    .toSorted((a, b) => a.notAfter.getTime() - b.notAfter.getTime() || (a.id < b.id ? -1 : 1))
    .slice(0, most);
  return { shown, omitted: certificates.length - shown.length };
}

/** On one line, and no longer than this, by code units; what is cut ends in an ellipsis. */
export function fitted(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNPRINTABLE, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The name of a certificate, or what stands for one. */
export const nameOf = ({ commonName, sans }: NotifiedCertificate, most: number): string =>
  fitted(commonName, most) || fitted(sans[0] ?? '', most) || '(no name)';

/** `a.example.com, b.example.com and 3 more`; empty without names. */
export function namesOf({ sans }: NotifiedCertificate, mostNames: number, most: number): string {
  const shown = sans.slice(0, mostNames).map((name) => fitted(name, most));
  const omitted = sans.length - shown.length;
  return `${shown.join(', ')}${omitted > 0 ? ` ${andMore(omitted)}` : ''}`;
}

/** `and 1,200 more` */
export const andMore = (count: number): string => `and ${count.toLocaleString('en-US')} more`;

/** What goes before `daysText`. */
export const verbOf = (daysLeft: number): 'Expired' | 'Expires' => (daysLeft < 0 ? 'Expired' : 'Expires');

/** `in 5 days`, `today`, `3 days ago` */
export function daysText(daysLeft: number): string {
  if (daysLeft === 0) return 'today';
  const days = Math.abs(daysLeft);
  const text = `${days.toLocaleString('en-US')} ${days === 1 ? 'day' : 'days'}`;
  return daysLeft > 0 ? `in ${text}` : `${text} ago`;
}

/** `2026-12-01 09:30 UTC` */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
