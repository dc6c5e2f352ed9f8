import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

const ERRORS = declareErrors({
  NOTIFICATION_CHANNEL_NOT_FOUND: notFound('notification channel'),
  NOTIFICATION_CHANNEL_NAME_TAKEN: conflict('The project has another notification channel of this name.'),
  NOTIFICATION_CHANNELS_FULL: conflict('The project has 50 notification channels, which is as many as it may have.'),
  NOTIFICATION_MESSAGE_NOT_FOUND: notFound('message of a project'),
  NOTIFICATION_MESSAGE_NOT_RETRYABLE: conflict(
    'The message was sent or waits to be; only one that has failed or was cancelled can be retried.',
  ),
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly projectNotices: typeof ERRORS;
  }
}
