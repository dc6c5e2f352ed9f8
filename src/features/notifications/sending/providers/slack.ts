import type { Context } from '../../../../kernel/context.js';
import { send, type TargetPolicy } from '../../../../kernel/outbound/http.js';
import {
  countOfOthers,
  type Delivery,
  type DeliveryOutcome,
  type Field,
  type Notification,
  type NotifiedItem,
  outcomeOf,
  type TargetOf,
  timeText,
  truncated,
} from '../notification.js';

const LIMIT_MS = 10_000;
/** One block per item; a message has at most 50. */
const MAX_ITEMS = 20;
const MAX_NAMES = 3;
// Limits of Slack, in characters after escaping.
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
const MAX_URL = 3_000;
/** Limit of one name: even if every character is escaped, a section still fits. */
const MAX_NAME = 300;

/** Posts a message to an incoming webhook. */
export function sendSlack(
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
  const shown = items.slice(0, MAX_ITEMS);
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
  const shownName = literal(truncated(name, MAX_NAME) || '(no name)');
  return [
    due === null ? `*${shownName}*` : `*${due.verb} ${due.text}*: ${shownName}\n${timeText(due.time)}`,
    ...fields.filter(([, text]) => text.length > 0).map(fieldText),
  ].join('\n');
}

function fieldText([label, text]: Field): string {
  if (typeof text === 'string') return `${label} ${literal(text)}`;
  const names = text.slice(0, MAX_NAMES).map(literal).join(', ');
  return `${label} ${names}${text.length > MAX_NAMES ? ` ${countOfOthers(text.length - MAX_NAMES)}` : ''}`;
}

/** `verbatim`: Slack adds no links or mentions. */
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });

/** Slack rejects empty strings. */
const plain = (text: string, most: number) => ({ type: 'plain_text', text: escaped(text, most) || '–', emoji: false });

/** Formats as code, where asterisks of wildcards have no meaning. Backticks are replaced because they would end it. */
const literal = (text: string): string => `\`${escaped(text.replaceAll('`', "'"), MAX_NAME) || ' '}\``;

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
