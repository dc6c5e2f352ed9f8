import * as z from 'zod';
import { idOf } from '../../../../kernel/text-rules.js';
import { MessagePage, RETRIED } from '../../deliveries/public.js';

const id = idOf('message');
const projectId = idOf('project that the message must belong to').nullish();

/** Arguments of `notificationMessages`. */
export const ListMessages = MessagePage.extend({
  projectId: idOf('project'),
  channelId: idOf('ID of a notification channel of the project: only its messages.').nullish(),
});

/** Arguments of `notificationMessage`. */
export const OneMessage = z.strictObject({ id, projectId });

/** Input of `retryNotificationMessage`. */
export const RetryMessage = z.strictObject({ id, projectId }).meta({ description: 'The notification message, by ID.' });

/** Input of `retryNotificationMessages`. */
export const RetryMessages = z
  .strictObject({ projectId: idOf('project'), ...RETRIED })
  .meta({ description: 'Which failed and cancelled notification messages to retry.' });
