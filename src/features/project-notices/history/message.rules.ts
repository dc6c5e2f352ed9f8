import { z } from 'zod';
import { idOf } from '../../../kernel/text-rules.js';
import { MessagePage } from '../../deliveries/public.js';

const id = idOf('message');
const projectId = idOf('project that it must be one of').nullish();

/** Arguments of `notificationMessages`. */
export const ListMessages = MessagePage.extend({
  projectId: idOf('project'),
  channelId: idOf('A notification channel of it: only what that has sent or has to send.').nullish(),
});

/** Arguments of `notificationMessage`. */
export const OneMessage = z.strictObject({ id, projectId });

/** Input of `retryNotificationMessage`. */
export const RetryMessage = z.strictObject({ id, projectId }).meta({ description: 'Which message of a project.' });
