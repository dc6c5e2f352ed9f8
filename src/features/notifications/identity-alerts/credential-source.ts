import { LockMode } from '@mikro-orm/core';
import { openForSending } from '../alerts/public.js';
import type { Source } from '../deliveries/public.js';
import { expiry, itemWithoutTime, type Notification, targetsOf, truncated, urgencyOf } from '../sending/public.js';
import { listMessageCredentials } from './credential.sql.js';
import { IdentityAlert } from './identity-alert.entity.js';
import { CHANNEL_TABLE, findSender } from './identity-alert.queries.js';

type AlertSender = Awaited<ReturnType<typeof findSender>>[number];

/** Channels of alerts of identities, and what is said of credentials when it is sent. */
export const CREDENTIAL_SOURCE: Source<AlertSender> = {
  name: 'identity-alert',
  job: {
    name: 'identity-alerts:send',
    description: 'Sends the notifications that wait at one channel of an alert of an identity.',
  },
  find: async (ctx, channelId) => (await findSender(ctx, { channelId }))[0],
  targets: async (ctx, sender) =>
    targetsOf(sender.channelType, await openForSending(ctx, { ...sender, table: CHANNEL_TABLE })),
  compose: async (ctx, sender, { id }) => {
    const credentials = await listMessageCredentials(ctx, { messageId: id });
    // Revoked, renewed or expired since it was written.
    if (credentials.length === 0) return { errorCode: 'CREDENTIALS_REMOVED' };
    return credentialNotification(sender, credentials);
  },
  lock: (tx, { alertId: id }) => tx.em.findOne(IdentityAlert, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
};

/** A credential as notifications show it: nothing of its value. */
interface NotifiedCredential {
  readonly id: string;
  readonly kind: 'client-secret' | 'access-token';
  /** Its name or description; empty without one. */
  readonly label: string;
  readonly expiresAt: Date;
  /** Whole days until it expires. */
  readonly daysLeft: number;
}

/** The alert that notifies. */
interface Notifying {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly ownerName: string;
  readonly alertId: string;
  readonly alertName: string;
  readonly alertBefore: string;
  readonly identityId: string;
  readonly identityName: string;
}

const KINDS = { 'client-secret': 'Client secret', 'access-token': 'Access token' } as const;
const NOUN = { one: 'Credential', many: 'Credentials', omitted: ', which expire later' };

/** The notification of an alert about credentials. @param now when it is sent */
function credentialNotification(
  notifying: Notifying,
  credentials: readonly NotifiedCredential[],
  now = new Date(),
): Notification {
  const { organizationId, projectId, ownerName, alertId, alertName, alertBefore, identityId, identityName } = notifying;
  const owner = projectId === null ? 'Organization' : 'Project';
  const label = owner.toLowerCase();
  const items = credentials.map((credential) => itemOf(credential, notifying));
  return {
    event: {
      type: 'identity.authentication.expiry',
      subject: 'identity-authentication-expiry-alert',
      source: `/${label}s/${projectId ?? organizationId}/identity-alerts/${alertId}`,
    },
    severity: items[0]?.urgency.severity ?? 'info',
    title:
      credentials.length === 1
        ? `A credential of the identity “${truncated(identityName, 100)}” will expire soon`
        : `${credentials.length.toLocaleString('en-US')} credentials of the identity “${truncated(identityName, 100)}” will expire soon`,
    occurredAt: now,
    context: [
      [owner, ownerName],
      ['Identity', identityName],
      ['Alert', alertName],
    ],
    reason: `a recipient of the alert “${truncated(alertName, 100)}” in the ${label} “${truncated(ownerName, 100)}”`,
    noun: NOUN,
    items,
    data: {
      alert: { id: alertId, name: alertName, alertBefore, organizationId, projectId },
      identity: { id: identityId, name: identityName },
    },
    nextSteps:
      'Create a new client secret or access token, install it wherever the old one is in use, and revoke the old one. A credential that is revoked or renewed raises no further alert.',
    link: null,
  };
}

function itemOf({ id, kind, label, expiresAt, daysLeft }: NotifiedCredential, { identityName }: Notifying) {
  const fields: [string, string][] = [
    ['Credential', KINDS[kind]],
    ['Identity', identityName],
  ];
  const item = itemWithoutTime(truncated(label, 1_000) || KINDS[kind], fields, {
    id,
    kind,
    expiresAt: expiresAt.toISOString(),
  });
  return { ...item, urgency: urgencyOf(daysLeft), due: expiry(daysLeft, expiresAt) };
}
