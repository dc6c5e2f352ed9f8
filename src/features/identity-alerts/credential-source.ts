import { openForSending } from '../alerts/public.js';
import type { Source } from '../deliveries/public.js';
import { targetsOf } from '../notifications/public.js';
import { listMessageCredentials } from './credential.sql.js';
import { credentialNotification } from './credential-notification.js';
import { CHANNEL_TABLE } from './identity-alert.view.js';
import { cancelMessages, findSender, lockAlertOf } from './sender.sql.js';

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
  lock: lockAlertOf,
  cancel: cancelMessages,
};
