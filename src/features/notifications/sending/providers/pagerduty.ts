import type { Context } from '../../../../kernel/context.js';
import { send, type TargetPolicy } from '../../../../kernel/outbound/http.js';
import {
  type Delivery,
  type DeliveryOutcome,
  type Details,
  listText,
  type Notification,
  outcomeOf,
  type TargetOf,
  truncated,
} from '../notification.js';

/** Default endpoint of the Events API v2. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

const LIMIT_MS = 10_000;
const MAX_ITEMS = 10;
const MAX_NAMES = 5;
const MAX_NAME = 255;
// Limits of PagerDuty, in characters.
const MAX_SUMMARY = 1_024;
const MAX_DEDUP_KEY = 255;
const MAX_TEXT = 2_000;

/** Triggers an incident. A repeated delivery updates the same one. */
export function sendPagerDuty(
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
  const names = context.map(([label, text]) => [label.toLowerCase(), truncated(text, MAX_NAME)] as const);
  const shown = items.slice(0, MAX_ITEMS);
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
      value === null || typeof value === 'number' ? value : listText(value, MAX_NAMES, MAX_NAME),
    ]),
  );
