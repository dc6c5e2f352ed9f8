import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

/** Error codes of roles, of organizations and of projects. */
const ERRORS = declareErrors({
  ROLE_NOT_FOUND: notFound('role'),
  ROLE_SLUG_TAKEN: conflict('Another role has this slug; take another one.'),
  ROLE_IN_USE: conflict('Members have this role; give them another one first.'),
  ROLE_BUILT_IN: conflict('Built-in roles cannot be changed or deleted; make a role of your own instead.'),
});

/** What entries of `details` say of the rules of a role. */
const DETAILS = declareDetailCodes({
  INVALID_GLOB: 'It is not a valid glob pattern.',
  UNKNOWN_ATTRIBUTE: 'It names an attribute that callers do not have.',
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
