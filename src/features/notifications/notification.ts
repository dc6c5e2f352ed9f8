import { NOT_URGENT, type Severity, type Urgency } from './text.js';

/** A label and what it says; of a list, channels show the first few. */
export type Field = readonly [label: string, text: string | readonly string[]];

/** JSON of incidents. Strings are cut to what an incident takes; of a list the first few are shown. */
export type Details = Readonly<Record<string, string | number | null | readonly string[]>>;

/** One of those that a notification is about, such as a certificate. */
export interface NotifiedItem {
  readonly name: string;
  /** Items of one urgency are shown under its label. */
  readonly urgency: Urgency;
  /** What matters most of it, as `Expires`, `in 5 days` and the time. */
  readonly due: { readonly verb: string; readonly text: string; readonly time: Date } | null;
  readonly fields: readonly Field[];
  /** As a webhook has it. */
  readonly json: object;
  /** As an incident has it. */
  readonly details: Details;
}

/** What is sent, whatever the channel. Texts may hold anything: each channel makes them safe for itself. */
export interface Notification {
  /** Names for programs. `type` follows `com.strongroom.`, `source` is a path. */
  readonly event: { readonly type: string; readonly subject: string; readonly source: string };
  readonly severity: Severity;
  readonly title: string;
  readonly occurredAt: Date;
  /** Where it comes from, such as its project and its alert, the widest first. */
  readonly context: readonly (readonly [label: string, text: string])[];
  /** Why somebody gets a mail: `a recipient of the alert “A” in the project “P”`. */
  readonly reason: string;
  /** What its items are, as `Certificate` and `Certificates`, and what is said of those without room. */
  readonly noun: { readonly one: string; readonly many: string; readonly omitted: string };
  /** Those that matter most first. */
  readonly items: readonly NotifiedItem[];
  /** What webhooks have beside its texts and items. */
  readonly data: object;
  /** What the reader should do, in a few sentences. */
  readonly nextSteps: string;
  /** Where to see more. */
  readonly link: string | null;
}

/** One notification to one target. */
export interface Delivery<T> {
  /** The same for each attempt, so that receivers can recognize a repetition. */
  readonly id: string;
  readonly target: T;
  readonly notification: Notification;
}

/** An item with fields and without a time. @param ids what programs get beside its name and fields */
export function plainItem(
  name: string,
  fields: readonly Field[],
  ids: Readonly<Record<string, string | undefined>>,
): NotifiedItem {
  const labelled = Object.fromEntries(fields.map(([label, text]) => [keyOf(label), text]));
  const details = { name, ...labelled };
  return { name, urgency: NOT_URGENT, due: null, fields, json: { ...ids, ...details }, details };
}

/** `Client secret` is `clientSecret`. */
const keyOf = (label: string): string =>
  label.toLowerCase().replace(/[^a-z0-9]+(\w)/g, (_, first: string) => first.toUpperCase());
