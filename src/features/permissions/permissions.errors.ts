import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { declareErrors, notFound } from '../../kernel/errors.js';

/** Error codes of roles and groups, of organizations and of projects. */
const ERRORS = declareErrors({
  ROLE_NOT_FOUND: notFound('role'),
  GROUP_NOT_FOUND: notFound('group'),
});

/** What entries of `details` say of the rules of a role. */
const DETAILS = declareDetailCodes({
  INVALID_GLOB: 'It is not a valid glob pattern.',
  READ_MIXED: '`read` must not be combined with `describeSecret` or `readValue`.',
});

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly permissions: keyof typeof DETAILS;
  }
}

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly permissions: typeof ERRORS;
  }
}
