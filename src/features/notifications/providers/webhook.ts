import { createHmac } from 'node:crypto';
import type { Context } from '../../../kernel/context.js';
import { send, type TargetPolicy } from '../../../kernel/outbound/http.js';
import { soonest } from '../certificate-text.js';
import type { TargetOf } from '../channel.js';
import type { Delivery, Notification, NotifiedCertificate } from '../notification.js';
import { type Outcome, outcomeOf } from '../outcome.js';

const LIMIT_MS = 10_000;
const MAX_CERTIFICATES = 1_000;
const MAX_CERTIFICATE_BYTES = 256 * 1024;
const MAX_NAMES = 100;

/** Sends a CloudEvent. Source: decisions 7.6. */
export function sendWebhook(
  ctx: Context,
  policy: TargetPolicy,
  { id, target, notification }: Delivery<TargetOf<'webhook'>>,
): Promise<Outcome> {
  const body = JSON.stringify(cloudEvent(id, notification));
  const request = {
    url: target.url,
    method: 'POST',
    headers: {
      'Content-Type': 'application/cloudevents+json; charset=utf-8',
      ...(target.signingSecret === null ? {} : { 'X-Strongroom-Signature': signature(target.signingSecret, body) }),
    },
    body,
    limitMs: LIMIT_MS,
    maxResponseBytes: null,
  } as const;
  return outcomeOf(send(ctx, request, policy));
}

/** The time is part of what is signed, so that a request that was recorded cannot be sent again later. */
function signature(secret: string, body: string): string {
  const time = Date.now();
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}

function cloudEvent(id: string, notification: Notification): object {
  const { eventType, title, occurredAt, project, alert, certificates, nextSteps, link } = notification;
  const shown = withinBytes(soonest(certificates, MAX_CERTIFICATES).shown.map(certificateJson));
  return {
    specversion: '1.0',
    id,
    type: `com.strongroom.certificate.${eventType}`,
    source: `/projects/${project.id}/alerts/${alert.id}`,
    subject: `certificate-${eventType}-alert`,
    time: occurredAt.toISOString(),
    datacontenttype: 'application/json',
    data: {
      title,
      nextSteps,
      alert: { ...alert, projectId: project.id, projectName: project.name },
      certificates: shown,
      metadata: {
        totalCertificates: certificates.length,
        omittedCertificates: certificates.length - shown.length,
        viewUrl: link,
      },
    },
  };
}

const certificateJson = (certificate: NotifiedCertificate) => ({
  id: certificate.id,
  serialNumber: certificate.serialNumber,
  commonName: certificate.commonName,
  san: certificate.sans.slice(0, MAX_NAMES),
  profileName: certificate.profileName,
  notBefore: certificate.notBefore.toISOString(),
  notAfter: certificate.notAfter.toISOString(),
  status: certificate.status,
  daysUntilExpiry: certificate.daysLeft,
});

/** The first of them, as many as have room. */
function withinBytes<T>(entries: readonly T[]): readonly T[] {
  let bytes = 0;
  const tooMany = entries.findIndex((entry) => {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    return bytes > MAX_CERTIFICATE_BYTES;
  });
  return tooMany === -1 ? entries : entries.slice(0, tooMany);
}
