import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  NOTIFICATION_CHANNEL_NOT_FOUND: notFound('notification channel'),
  NOTIFICATION_CHANNEL_NAME_TAKEN: conflict(
    'The project already has a notification channel with this name. Choose another name.',
  ),
  NOTIFICATION_CHANNELS_FULL: conflict(
    'The project has reached the limit of 50 notification channels. Delete one first.',
  ),
  NOTIFICATION_MESSAGE_NOT_FOUND: notFound('message of a project'),
  NOTIFICATION_MESSAGE_NOT_RETRYABLE: conflict(
    'The message is pending or was sent. Only failed or cancelled messages can be retried.',
  ),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly projectNotices: typeof ERRORS;
  }
}
