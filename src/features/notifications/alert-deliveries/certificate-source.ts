import { LockMode } from '@mikro-orm/core';
import { CertificateAlert, openForSending } from '../alerts/public.js';
import type { Source } from '../deliveries/public.js';
import {
  expiry,
  type Notification,
  type NotifiedItem,
  type Severity,
  targetsOf,
  truncated,
  urgencyOf,
} from '../sending/public.js';
import { findSender, SOURCE } from './alert-delivery.queries.js';
import { listMessageCertificates } from './alert-delivery.sql.js';

type AlertSender = Awaited<ReturnType<typeof findSender>>[number];

/** The delivery source of certificate alerts: finds their channels and renders their messages. */
export const CERTIFICATE_SOURCE: Source<AlertSender> = {
  name: SOURCE,
  job: {
    name: 'certificate-alerts:send',
    description: 'Sends the pending messages of one channel of a certificate alert.',
  },
  find: async (ctx, channelId) => (await findSender(ctx, { channelId }))[0],
  targets: async (ctx, sender) => targetsOf(sender.channelType, await openForSending(ctx, sender)),
  compose: async (ctx, sender, { id, event }) => {
    const named = await listMessageCertificates(ctx, { messageId: id });
    // Deleted; or for an alert of expiration revoked or replaced since.
    if (named.length === 0) return { errorCode: 'CERTIFICATES_REMOVED' };
    // The table holds no events other than those of certificates.
    return notificationOf(sender, event as NotifiedEvent, named);
  },
  lock: (tx, { alertId: id }) => tx.em.findOne(CertificateAlert, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
};

/** Events of notifications; `test` tests a channel. */
export type NotifiedEvent = 'expiration' | 'issuance' | 'renewal' | 'revocation' | 'test';

/** A certificate as notifications show it. */
export interface NotifiedCertificate {
  readonly id: string;
  readonly serialNumber: string;
  readonly commonName: string;
  readonly sans: readonly string[];
  readonly profileName: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly status: string;
  /** Full days until expiration; negative after it. */
  readonly daysLeft: number;
}

const NOUN = { one: 'Certificate', many: 'Certificates', omitted: ', which expire later' };
const MAX_NAMES = 100;

/** Texts of the notification of an event. */
interface Texts {
  readonly title: (count: number) => string;
  readonly nextSteps: string;
}

const certificates = (count: number): string =>
  count === 1 ? 'A certificate' : `${count.toLocaleString('en-US')} certificates`;

const TEXTS: Readonly<Record<NotifiedEvent, Texts>> = {
  expiration: {
    title: (count) => `${certificates(count)} will expire soon`,
    nextSteps:
      'Renew each certificate, install the new one wherever the old one is used, and reload the services that use it. You get no further alerts for a certificate that is replaced in time.',
  },
  issuance: {
    title: (count) => `${certificates(count)} ${count === 1 ? 'was' : 'were'} issued`,
    nextSteps: 'If nobody on your team requested it, revoke it and find out who did.',
  },
  renewal: {
    title: (count) => `${certificates(count)} ${count === 1 ? 'was' : 'were'} renewed`,
    nextSteps: 'Install the new certificate wherever the old one is used, and reload the services that use it.',
  },
  revocation: {
    title: (count) => `${certificates(count)} ${count === 1 ? 'was' : 'were'} revoked`,
    nextSteps: 'Clients that check revocation now reject it. Replace it wherever it is still used.',
  },
  test: { title: () => 'Test of this channel', nextSteps: 'No action is needed: somebody tested this channel.' },
};

/** The alert that notifies. */
interface Notifying {
  readonly projectId: string;
  readonly projectName: string;
  readonly alertId: string;
  readonly alertName: string;
  readonly alertBefore: string;
}

/** Renders the notification of an alert. @param now when it is sent */
export function notificationOf(
  { projectId, projectName, alertId, alertName, alertBefore }: Notifying,
  eventType: NotifiedEvent,
  named: readonly NotifiedCertificate[],
  now = new Date(),
): Notification {
  const { title, nextSteps } = TEXTS[eventType];
  const before = eventType === 'expiration' ? alertBefore : null;
  const items = named.toSorted(soonest).map(itemOf);
  return {
    event: {
      type: `certificate.${eventType}`,
      subject: `certificate-${eventType}-alert`,
      source: `/projects/${projectId}/alerts/${alertId}`,
    },
    severity: severityOf(eventType, items[0]),
    title: title(named.length),
    occurredAt: now,
    context: [
      ['Project', projectName],
      ['Alert', alertName],
    ],
    reason: `a recipient of the alert “${truncated(alertName, 100)}” in the project “${truncated(projectName, 100)}”`,
    noun: NOUN,
    items,
    data: { alert: { id: alertId, name: alertName, alertBefore: before, projectId, projectName } },
    nextSteps,
    link: null,
  };
}

const soonest = (a: NotifiedCertificate, b: NotifiedCertificate): number =>
  a.notAfter.getTime() - b.notAfter.getTime() || (a.id < b.id ? -1 : 1);

/** The severity by the certificate that expires first. Issuance and renewal page nobody, even for short-lived certificates. */
function severityOf(eventType: NotifiedEvent, first: NotifiedItem | undefined): Severity {
  if (eventType === 'revocation') return 'warning';
  return eventType === 'expiration' && first !== undefined ? first.urgency.severity : 'info';
}

function itemOf(certificate: NotifiedCertificate): NotifiedItem {
  const { id, serialNumber, sans, profileName, notBefore, notAfter, status, daysLeft } = certificate;
  const commonName = truncated(certificate.commonName, 1_000) || truncated(sans[0] ?? '', 1_000) || '(no name)';
  return {
    name: commonName,
    urgency: urgencyOf(daysLeft),
    due: expiry(daysLeft, notAfter),
    fields: [
      ['Serial number', serialNumber],
      ['Names', sans],
      ['Profile', profileName ?? ''],
      ['Status', status],
    ],
    json: {
      id,
      serialNumber,
      commonName: certificate.commonName,
      san: sans.slice(0, MAX_NAMES),
      profileName,
      notBefore: notBefore.toISOString(),
      notAfter: notAfter.toISOString(),
      status,
      daysUntilExpiry: daysLeft,
    },
    details: { commonName, names: sans, serialNumber, profileName, notAfter: notAfter.toISOString(), daysLeft, status },
  };
}
