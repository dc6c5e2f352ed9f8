import type { Context } from '../../../kernel/context.js';
import { send, type TargetPolicy } from '../../../kernel/outbound/http.js';
import { fitted, nameOf, namesOf, soonest, urgencyOf } from '../certificate-text.js';
import type { TargetOf } from '../channel.js';
import type { Delivery, Notification } from '../notification.js';
import { type Outcome, outcomeOf } from '../outcome.js';

/** Where the Events API v2 takes events. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

const LIMIT_MS = 10_000;
const MAX_CERTIFICATES = 10;
const MAX_NAMES = 5;
const MAX_NAME = 255;
// Limits of PagerDuty, in characters.
const MAX_SUMMARY = 1_024;
const MAX_DEDUP_KEY = 255;
const MAX_TEXT = 2_000;

/** Triggers an incident: a repeated delivery belongs to the same one. */
export function sendPagerDuty(
  ctx: Context,
  { policy, url = PAGERDUTY_URL }: { readonly policy: TargetPolicy; readonly url?: string | undefined },
  { id, target, notification }: Delivery<TargetOf<'pagerduty'>>,
): Promise<Outcome> {
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

function incident(notification: Notification): object {
  const { eventType, title, occurredAt, project, alert, certificates, nextSteps, link } = notification;
  const { shown, omitted } = soonest(certificates, MAX_CERTIFICATES);
  return {
    ...(link === null ? {} : { client_url: link, links: [{ href: link, text: 'Show in Strongroom' }] }),
    payload: {
      summary: fitted(title, MAX_SUMMARY),
      source: `Strongroom: ${fitted(project.name, MAX_NAME)}`,
      severity: severityOf(notification),
      timestamp: occurredAt.toISOString(),
      component: fitted(alert.name, MAX_NAME),
      class: `certificate ${eventType}`,
      custom_details: {
        project: fitted(project.name, MAX_NAME),
        alert: fitted(alert.name, MAX_NAME),
        nextSteps: fitted(nextSteps, MAX_TEXT),
        totalCertificates: certificates.length,
        omittedCertificates: omitted,
        certificates: shown.map((certificate) => ({
          commonName: nameOf(certificate, MAX_NAME),
          names: namesOf(certificate, MAX_NAMES, MAX_NAME),
          serialNumber: fitted(certificate.serialNumber, MAX_NAME),
          profileName: certificate.profileName === null ? null : fitted(certificate.profileName, MAX_NAME),
          notAfter: certificate.notAfter.toISOString(),
          daysLeft: certificate.daysLeft,
          status: fitted(certificate.status, MAX_NAME),
        })),
      },
    },
  };
}

/** That of the certificate that expires first. What has only happened wakes nobody, however short a certificate lives. */
function severityOf({ eventType, certificates }: Notification): string {
  if (eventType === 'revocation') return 'warning';
  const [first] = soonest(certificates, 1).shown;
  return eventType === 'expiration' && first !== undefined ? urgencyOf(first.daysLeft).severity : 'info';
}
