import { declareErrors, notFound, row } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  IDENTITY_ALERT_NOT_FOUND: notFound('alert of the identity'),
  // Not 409: clients of these routes recognize an alert that exists already by 400.
  IDENTITY_ALERT_NAME_TAKEN: row(
    400,
    'BadRequest',
    'Another alert of the identity has this name. Choose another name, or change that alert.',
  ),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly identityAlerts: typeof ERRORS;
  }
}
