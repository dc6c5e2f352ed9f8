import type { Notification, NotifiedCertificate, NotifiedEvent } from '../notifications/public.js';

/** What an alert notifies of, in the words of its event. */
interface Words {
  readonly title: (count: number) => string;
  readonly nextSteps: string;
}

const certificates = (count: number): string =>
  count === 1 ? 'A certificate' : `${count.toLocaleString('en-US')} certificates`;

const WORDS: Readonly<Record<NotifiedEvent, Words>> = {
  expiration: {
    title: (count) => `${certificates(count)} will expire soon`,
    nextSteps:
      'Renew each certificate, install the new one wherever the old one is in use, and reload what serves it. A certificate that is replaced by a newer one in time raises no further alert.',
  },
  issuance: {
    title: (count) => `${certificates(count)} ${count === 1 ? 'was' : 'were'} issued`,
    nextSteps: 'If nobody in your team asked for it, revoke it and find out who did.',
  },
  renewal: {
    title: (count) => `${certificates(count)} ${count === 1 ? 'was' : 'were'} renewed`,
    nextSteps: 'Install the new certificate wherever the old one is in use, and reload what serves it.',
  },
  revocation: {
    title: (count) => `${certificates(count)} ${count === 1 ? 'was' : 'were'} revoked`,
    nextSteps: 'Clients that check revocation reject it from now on. Replace it wherever it is still in use.',
  },
  test: { title: () => 'A test of this channel', nextSteps: 'Nothing is wrong: somebody tried this channel out.' },
};

/** The alert that notifies. */
interface Notifying {
  readonly projectId: string;
  readonly projectName: string;
  readonly alertId: string;
  readonly alertName: string;
  readonly alertBefore: string;
}

/** The notification of an alert about certificates. @param now when it is sent */
export function notificationOf(
  { projectId, projectName, alertId, alertName, alertBefore }: Notifying,
  eventType: NotifiedEvent,
  named: readonly NotifiedCertificate[],
  now = new Date(),
): Notification {
  const { title, nextSteps } = WORDS[eventType];
  return {
    eventType,
    title: title(named.length),
    occurredAt: now,
    project: { id: projectId, name: projectName },
    alert: { id: alertId, name: alertName, alertBefore: eventType === 'expiration' ? alertBefore : null },
    certificates: named,
    nextSteps,
    link: null,
  };
}
