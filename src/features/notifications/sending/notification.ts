/** Severity of a notification. */
export type Severity = 'critical' | 'error' | 'warning' | 'info';

/** Urgency: a severity for programs and a label for people. */
interface Urgency {
  readonly severity: Severity;
  /** Empty: no label is shown. */
  readonly label: string;
}

/** A label and its value; of a list, channels show the first few. */
export type Field = readonly [label: string, text: string | readonly string[]];

/** JSON for incidents. Strings are cut to the limit of an incident; of a list the first few are shown. */
export type Details = Readonly<Record<string, string | number | null | readonly string[]>>;

/** One item of a notification, such as a certificate. */
export interface NotifiedItem {
  readonly name: string;
  /** Items are grouped by urgency, under its label. */
  readonly urgency: Urgency;
  /** The most important fact, for example `Expires`, `in 5 days` and the time. */
  readonly due: { readonly verb: string; readonly text: string; readonly time: Date } | null;
  readonly fields: readonly Field[];
  /** The item in a webhook payload. */
  readonly json: object;
  /** The item in an incident. */
  readonly details: Details;
}

/** A notification, independent of the channel. Strings may hold anything: each channel escapes them. */
export interface Notification {
  /** Machine-readable names. `type` is prefixed with `com.strongroom.`; `source` is a path. */
  readonly event: { readonly type: string; readonly subject: string; readonly source: string };
  readonly severity: Severity;
  readonly title: string;
  readonly occurredAt: Date;
  /** Where it comes from, for example project and alert, the widest first. */
  readonly context: readonly (readonly [label: string, text: string])[];
  /** Why a recipient gets the email: `a recipient of the alert “A” in the project “P”`. */
  readonly reason: string;
  /** The noun of its items, for example `Certificate` and `Certificates`, and what is said of omitted ones. */
  readonly noun: { readonly one: string; readonly many: string; readonly omitted: string };
  /** Most important first. */
  readonly items: readonly NotifiedItem[];
  /** Additional data of webhook payloads. */
  readonly data: object;
  /** What the reader should do, in a few sentences. */
  readonly nextSteps: string;
  /** Link to more details. */
  readonly link: string | null;
}

/** An item with fields and without a time. @param ids what programs get in addition to its name and fields */
export function itemWithoutTime(
  name: string,
  fields: readonly Field[],
  ids: Readonly<Record<string, string | undefined>>,
): NotifiedItem {
  const labelled = Object.fromEntries(fields.map(([label, text]) => [keyOf(label), text]));
  const details = { name, ...labelled };
  return { name, urgency: NOT_URGENT, due: null, fields, json: { ...ids, ...details }, details };
}

/** Converts a label to camel case: `Client secret` is `clientSecret`. */
const keyOf = (label: string): string =>
  label.toLowerCase().replace(/[^a-z0-9]+(\w)/g, (_, first: string) => first.toUpperCase());

/** For items without a time. */
const NOT_URGENT: Urgency = { severity: 'info', label: '' };

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

/** `in 5 days`, `today`, `3 days ago` */
function daysText(daysLeft: number): string {
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
