import { declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  AUDIT_TRAIL_VERIFICATION_NOT_FOUND: notFound('verification'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly auditTrailVerifications: typeof ERRORS;
  }
}
