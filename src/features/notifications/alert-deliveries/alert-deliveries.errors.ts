import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  ALERT_CHANNEL_NOT_FOUND: notFound('channel of the certificate alert'),
  ALERT_MESSAGE_NOT_FOUND: notFound('message of a certificate alert'),
  ALERT_MESSAGE_NOT_RETRYABLE: conflict(
    'The message is pending or was sent. Only failed or cancelled messages can be retried.',
  ),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly alertDeliveries: typeof ERRORS;
  }
}
