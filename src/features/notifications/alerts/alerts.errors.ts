import { declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  CERTIFICATE_ALERT_NOT_FOUND: notFound('certificate alert'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly alerts: typeof ERRORS;
  }
}
