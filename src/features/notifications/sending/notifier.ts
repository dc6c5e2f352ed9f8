import type { Context } from '../../../kernel/context.js';
import { send, type TargetPolicy } from '../../../kernel/outbound/http.js';
import type { Mailer } from '../../../kernel/outbound/mail.js';
import { SIGNATURE_HEADER, signatureOf } from '../../../kernel/outbound/signature.js';
import { isMailAllowed } from '../../identity/organizations/email-domains/public.js';
import type { Target, TargetOf } from './channel.js';
import { type Delivery, type DeliveryOutcome, outcomeOf } from './delivery.js';
import { sendEmail } from './email.js';
import type { Details, Field, Notification, NotifiedItem } from './notification.js';
import { countOfOthers, listText, timeText, truncated } from './text.js';

/** What deliveries depend on. */
interface Outside {
  readonly mailer: Mailer;
  readonly policy: TargetPolicy;
  /** Endpoint of PagerDuty, if not the public one. */
  readonly pagerdutyUrl?: string;
}

const NOT_ALLOWED = 'RECIPIENT_NOT_ALLOWED';
const REFUSED: DeliveryOutcome = {
  result: 'permanent',
  code: NOT_ALLOWED,
  status: null,
  retryAfterSeconds: null,
};

/** Delivers notifications to channels of every type. */
export class Notifier {
  constructor(private readonly outside: Outside) {}

  /**
   * Makes one attempt to deliver a notification to one target. The caller decides about retries.
   *
   * @returns `accepted` once the target accepted it; does not throw for failures of the target
   * @throws Error inside a transaction
   */
  async deliver(ctx: Context, { id, target, notification }: Delivery<Target>): Promise<DeliveryOutcome> {
    const { mailer, policy, pagerdutyUrl: url } = this.outside;
    switch (target.type) {
      case 'email':
        // The only place of this check, so that no email bypasses it.
        if (!(await isMailAllowed(ctx, target.recipient))) return REFUSED;
        return sendEmail(ctx, mailer, { id, target, notification });
      case 'webhook':
        return sendWebhook(ctx, policy, { id, target, notification });
      case 'slack':
        return sendSlack(ctx, policy, { id, target, notification });
      case 'pagerduty':
        return sendPagerDuty(ctx, { policy, url }, { id, target, notification });
    }
  }
}

const LIMIT_MS = 10_000;
const MAX_WEBHOOK_ITEMS = 1_000;
const MAX_ITEM_BYTES = 256 * 1024;

/** Sends a CloudEvent. */
function sendWebhook(
  ctx: Context,
  policy: TargetPolicy,
  { id, target, notification }: Delivery<TargetOf<'webhook'>>,
): Promise<DeliveryOutcome> {
  const body = JSON.stringify(cloudEvent(id, notification));
  const request = {
    url: target.url,
    method: 'POST',
    headers: {
      'Content-Type': 'application/cloudevents+json; charset=utf-8',
      ...(target.signingSecret === null ? {} : { [SIGNATURE_HEADER]: signatureOf(target.signingSecret, body) }),
    },
    body,
    limitMs: LIMIT_MS,
    maxResponseBytes: null,
  } as const;
  return outcomeOf(send(ctx, request, policy));
}

function cloudEvent(
  id: string,
  { event, title, occurredAt, noun, items, data, nextSteps, link }: Notification,
): object {
  const shown = withinBytes(items.slice(0, MAX_WEBHOOK_ITEMS).map(({ json }) => json));
  const many = noun.many.replaceAll(' ', '');
  return {
    specversion: '1.0',
    id,
    type: `com.strongroom.${event.type}`,
    source: event.source,
    subject: event.subject,
    time: occurredAt.toISOString(),
    datacontenttype: 'application/json',
    data: {
      title,
      nextSteps,
      ...data,
      [many.charAt(0).toLowerCase() + many.slice(1)]: shown,
      metadata: {
        [`total${many}`]: items.length,
        [`omitted${many}`]: items.length - shown.length,
        viewUrl: link,
      },
    },
  };
}

/** The first items, as many as fit. */
function withinBytes<T>(entries: readonly T[]): readonly T[] {
  let bytes = 0;
  const tooMany = entries.findIndex((entry) => {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    return bytes > MAX_ITEM_BYTES;
  });
  return tooMany === -1 ? entries : entries.slice(0, tooMany);
}

/** One block per item; a message has at most 50. */
const MAX_SLACK_ITEMS = 20;
const MAX_SLACK_NAMES = 3;
// Limits of Slack, in characters after escaping.
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
const MAX_URL = 3_000;
/** Limit of one name: even if every character is escaped, a section still fits. */
const MAX_SLACK_NAME = 300;

/** Posts a message to an incoming webhook. */
function sendSlack(
  ctx: Context,
  policy: TargetPolicy,
  { target, notification }: Delivery<TargetOf<'slack'>>,
): Promise<DeliveryOutcome> {
  const request = {
    url: target.webhookUrl,
    method: 'POST',
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(message(notification)),
    limitMs: LIMIT_MS,
    maxResponseBytes: null,
  } as const;
  return outcomeOf(send(ctx, request, policy));
}

function message({ title, context, items, nextSteps, link }: Notification): object {
  const shown = items.slice(0, MAX_SLACK_ITEMS);
  const omitted = items.length - shown.length;
  return {
    // Shown by desktop notifications.
    text: escaped(title, MAX_HEADER),
    blocks: [
      { type: 'header', text: plain(title, MAX_HEADER) },
      section(
        context.map(([label, text], at) => `${at === 0 ? label : label.toLowerCase()} ${literal(text)}`).join(', '),
      ),
      ...shown.map((item) => section(itemText(item))),
      ...(omitted > 0 ? [section(`… ${countOfOthers(omitted)}`)] : []),
      { type: 'section', text: plain(nextSteps, MAX_SECTION) },
      ...(link !== null && link.length <= MAX_URL
        ? [{ type: 'actions', elements: [{ type: 'button', text: plain('Show', 75), url: link }] }]
        : []),
    ],
  };
}

function itemText({ name, due, fields }: NotifiedItem): string {
  const shownName = literal(truncated(name, MAX_SLACK_NAME) || '(no name)');
  return [
    due === null ? `*${shownName}*` : `*${due.verb} ${due.text}*: ${shownName}\n${timeText(due.time)}`,
    ...fields.filter(([, text]) => text.length > 0).map(fieldText),
  ].join('\n');
}

function fieldText([label, text]: Field): string {
  if (typeof text === 'string') return `${label} ${literal(text)}`;
  const names = text.slice(0, MAX_SLACK_NAMES).map(literal).join(', ');
  return `${label} ${names}${text.length > MAX_SLACK_NAMES ? ` ${countOfOthers(text.length - MAX_SLACK_NAMES)}` : ''}`;
}

/** `verbatim`: Slack adds no links or mentions. */
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });

/** Slack rejects empty strings. */
const plain = (text: string, most: number) => ({ type: 'plain_text', text: escaped(text, most) || '–', emoji: false });

/** Formats as code, where asterisks of wildcards have no meaning. Backticks are replaced because they would end it. */
const literal = (text: string): string => `\`${escaped(text.replaceAll('`', "'"), MAX_SLACK_NAME) || ' '}\``;

/** On one line, and at most this long after escaping. */
function escaped(text: string, most: number): string {
  const line = truncated(text, most);
  let sent = '';
  for (const character of line) {
    const next = ENTITIES[character] ?? character;
    if (sent.length + next.length > most) return sent;
    sent += next;
  }
  return sent;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Default endpoint of the Events API v2. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

const MAX_PAGERDUTY_ITEMS = 10;
const MAX_PAGERDUTY_NAMES = 5;
const MAX_PAGERDUTY_NAME = 255;
// Limits of PagerDuty, in characters.
const MAX_SUMMARY = 1_024;
const MAX_DEDUP_KEY = 255;
const MAX_TEXT = 2_000;

/** Triggers an incident. A repeated delivery updates the same one. */
function sendPagerDuty(
  ctx: Context,
  { policy, url = PAGERDUTY_URL }: { readonly policy: TargetPolicy; readonly url?: string | undefined },
  { id, target, notification }: Delivery<TargetOf<'pagerduty'>>,
): Promise<DeliveryOutcome> {
  const request = {
    url,
    method: 'POST',
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({
      routing_key: target.integrationKey,
      event_action: 'trigger',
      dedup_key: id.slice(0, MAX_DEDUP_KEY),
      client: 'Strongroom',
      ...incident(notification),
    }),
    limitMs: LIMIT_MS,
    maxResponseBytes: null,
  } as const;
  return outcomeOf(send(ctx, request, policy));
}

function incident({ event, severity, title, occurredAt, context, noun, items, nextSteps, link }: Notification): object {
  const names = context.map(([label, text]) => [label.toLowerCase(), truncated(text, MAX_PAGERDUTY_NAME)] as const);
  const shown = items.slice(0, MAX_PAGERDUTY_ITEMS);
  const many = noun.many.replaceAll(' ', '');
  return {
    ...(link === null ? {} : { client_url: link, links: [{ href: link, text: 'Show in Strongroom' }] }),
    payload: {
      summary: truncated(title, MAX_SUMMARY),
      source: `Strongroom: ${names[0]?.[1] ?? ''}`,
      severity,
      timestamp: occurredAt.toISOString(),
      component: names.at(-1)?.[1] ?? '',
      class: event.type.replaceAll(/[.-]/g, ' '),
      custom_details: {
        ...Object.fromEntries(names),
        nextSteps: truncated(nextSteps, MAX_TEXT),
        [`total${many}`]: items.length,
        [`omitted${many}`]: items.length - shown.length,
        [many.charAt(0).toLowerCase() + many.slice(1)]: shown.map(({ details }) => fittedDetails(details)),
      },
    },
  };
}

const fittedDetails = (details: Details): object =>
  Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      value === null || typeof value === 'number' ? value : listText(value, MAX_PAGERDUTY_NAMES, MAX_PAGERDUTY_NAME),
    ]),
  );
