import type { Context } from '../../../../kernel/context.js';
import { send, type TargetPolicy } from '../../../../kernel/outbound/http.js';
import { SIGNATURE_HEADER, signatureOf } from '../../../../kernel/outbound/signature.js';
import { type Delivery, type DeliveryOutcome, type Notification, outcomeOf, type TargetOf } from '../notification.js';

const LIMIT_MS = 10_000;
const MAX_ITEMS = 1_000;
const MAX_ITEM_BYTES = 256 * 1024;

/** Sends a CloudEvent. */
export function sendWebhook(
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
  const shown = withinBytes(items.slice(0, MAX_ITEMS).map(({ json }) => json));
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
