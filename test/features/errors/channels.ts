import type { ErrorCode } from '../../../src/kernel/errors.js';
import { TARGET_CLASHES, TARGETS_NOT_THERE } from './outgoing-events.js';
import { again, type ErrorCase, type Provoke, send, unknown } from './scene.js';

const CHANNELS = '/api/v1/projects/{projectId}/notification-channels';
const MESSAGES = '/api/v1/projects/{projectId}/notification-messages';

/** Where the project has as many channels as it may have. */
const withFullProject =
  (provoke: Provoke): Provoke =>
  async (scene) => {
    await scene.strongroom.sql(
      `insert into notification_channel (id, organization_id, project_id, name, channel_type, config_sealed)
       select gen_random_uuid(), organization_id, project_id, 'n' || n, channel_type, config_sealed
       from notification_channel, generate_series(2, 50) n where id = $1`,
      [scene.world.notificationChannel],
    );
    return provoke(scene);
  };

/** Where the message of the channel was sent meanwhile. */
const afterSending =
  (provoke: Provoke): Provoke =>
  async (scene) => {
    await scene.strongroom.sql(`update notification_message set state = 'sent' where id = $1`, [
      scene.world.notificationMessage,
    ]);
    return provoke(scene);
  };

/** Of channels, of alerts of identities and of targets of events that are not there. */
export const CHANNELS_NOT_THERE: Partial<Record<ErrorCode, ErrorCase>> = {
  ...TARGETS_NOT_THERE,
  IDENTITY_ALERT_NOT_FOUND: unknown('identityAlert', 'GET /api/v1/alerts/{alertId}', 'identityAlert'),
  NOTIFICATION_CHANNEL_NOT_FOUND: unknown('notificationChannel', `GET ${CHANNELS}/{channelId}`, 'notificationChannel'),
  NOTIFICATION_MESSAGE_NOT_FOUND: unknown(
    'notificationMessage',
    `POST ${MESSAGES}/{messageId}/retry`,
    'notificationMessage',
  ),
};

/** Of channels, of alerts of identities and of targets of events that are there already. */
export const CHANNEL_CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  ...TARGET_CLASHES,
  IDENTITY_ALERT_NAME_TAKEN: { rest: again('POST /api/v1/alerts'), graphql: again('createIdentityAlert') },
  NOTIFICATION_CHANNEL_NAME_TAKEN: { rest: again(`POST ${CHANNELS}`), graphql: again('createNotificationChannel') },
  NOTIFICATION_CHANNELS_FULL: {
    rest: withFullProject(send(`POST ${CHANNELS}`)),
    graphql: withFullProject(send('createNotificationChannel')),
  },
  NOTIFICATION_MESSAGE_NOT_RETRYABLE: {
    rest: afterSending(send(`POST ${MESSAGES}/{messageId}/retry`)),
    graphql: afterSending(send('retryNotificationMessage')),
  },
};
