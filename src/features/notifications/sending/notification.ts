import { type OutboundCode, OutboundError } from '../../../kernel/outbound/outbound-error.js';

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

/** One notification for one target. */
export interface Delivery<T> {
  /** The same for each attempt, so that receivers can detect repeated deliveries. */
  readonly id: string;
  readonly target: T;
  readonly notification: Notification;
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

/** Configs by type of channel, in the form in which they are sealed. */
export interface ChannelConfigs {
  readonly email: {
    readonly recipients: readonly string[];
    /** Users and groups whose addresses are resolved when a message is sent. */
    readonly userIds?: readonly string[] | undefined;
    readonly groupIds?: readonly string[] | undefined;
  };
  readonly webhook: { readonly url: string; readonly signingSecret: string | null };
  readonly slack: { readonly webhookUrl: string };
  readonly pagerduty: { readonly integrationKey: string };
}

/** Types of channels. */
export const CHANNEL_TYPES = [
  'email',
  'webhook',
  'slack',
  'pagerduty',
] as const satisfies readonly (keyof ChannelConfigs)[];
export type ChannelType = (typeof CHANNEL_TYPES)[number];

/** The destination of one delivery: a channel, or one recipient of an email channel. */
export type Target =
  | { readonly type: 'email'; readonly recipient: string }
  | ({ readonly type: 'webhook' } & ChannelConfigs['webhook'])
  | ({ readonly type: 'slack' } & ChannelConfigs['slack'])
  | ({ readonly type: 'pagerduty' } & ChannelConfigs['pagerduty']);

/** The target of one type. */
export type TargetOf<T extends ChannelType> = Extract<Target, { readonly type: T }>;

/** The targets of a channel, in the order of its config. */
export function targetsOf<T extends ChannelType>(type: T, config: ChannelConfigs[T]): readonly Target[] {
  if ('recipients' in config) return config.recipients.map((recipient) => ({ type: 'email', recipient }));
  return [{ type, ...config } as Target];
}

/** The result of a delivery attempt. */
export type DeliveryOutcome =
  | { readonly result: 'accepted' }
  | {
      /** `permanent`: further attempts would fail too. */
      readonly result: 'temporary' | 'permanent';
      readonly code: OutboundCode | 'RECIPIENT_NOT_ALLOWED';
      /** HTTP status of the response, or reply code of the mail server. */
      readonly status: number | null;
      /** Delay that the target requests before the next attempt. */
      readonly retryAfterSeconds: number | null;
    };

/** Converts an attempt to its outcome. @throws any error that is no failure of the target */
export async function outcomeOf(attempt: Promise<unknown>): Promise<DeliveryOutcome> {
  try {
    await attempt;
    return { result: 'accepted' };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { code, status, retryAfterSeconds, isTemporary } = error;
    return { result: isTemporary ? 'temporary' : 'permanent', code, status, retryAfterSeconds };
  }
}

/** Control characters, line breaks, and characters that change text direction. */
const UNPRINTABLE = /[\s\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

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

/** Converts to one line of at most this many code units; longer strings are cut and end in an ellipsis. */
export function truncated(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNPRINTABLE, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Joins a list and cuts it: `a.example.com, b.example.com and 3 more`. Empty for an empty list. */
export function listText(text: string | readonly string[], mostNames: number, most: number): string {
  if (typeof text === 'string') return truncated(text, most);
  const shown = text.slice(0, mostNames).map((name) => truncated(name, most));
  const omitted = text.length - shown.length;
  return `${shown.join(', ')}${omitted > 0 ? ` ${countOfOthers(omitted)}` : ''}`;
}

/** `and 1,200 more` */
export const countOfOthers = (count: number): string => `and ${count.toLocaleString('en-US')} more`;

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

/** `2026-12-01 09:30 UTC` */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
