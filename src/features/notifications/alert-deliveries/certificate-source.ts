import { LockMode } from '@mikro-orm/core';
import { CertificateAlert, openForSending } from '../alerts/public.js';
import type { Source } from '../deliveries/public.js';
import { targetsOf } from '../sending/public.js';
import { findSender, SOURCE } from './alert-delivery.queries.js';
import { type NotifiedEvent, notificationOf } from './notification-of.js';
import { listMessageCertificates } from './sender.sql.js';

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
