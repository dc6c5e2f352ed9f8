import { declareDetailCodes } from '../../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

/** Error codes of roles, of organizations and of projects. */
const ERRORS = declareErrors({
  ROLE_NOT_FOUND: notFound('role'),
  ROLE_SLUG_TAKEN: conflict('Another role has this slug. Choose another one.'),
  ROLE_IN_USE: conflict('The role is assigned to members. Assign them another role first.'),
  ROLE_BUILT_IN: conflict('Built-in roles cannot be changed or deleted. Create a custom role instead.'),
});

/** Messages of the codes in `details` about the rules of a role. */
const DETAILS = declareDetailCodes({
  INVALID_GLOB: 'The glob pattern is invalid.',
  UNKNOWN_ATTRIBUTE: 'The attribute does not exist.',
  READ_MIXED: '`read` must not be combined with `describeSecret` or `readValue`.',
});

declare module '../../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly permissions: keyof typeof DETAILS;
  }
}

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly permissions: typeof ERRORS;
  }
}
