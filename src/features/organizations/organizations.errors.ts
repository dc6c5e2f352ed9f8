import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

/** Error codes of organizations, their users and memberships. */
const ERRORS = declareErrors({
  ORGANIZATION_NOT_FOUND: notFound('organization'),
  USER_NOT_FOUND: notFound('user'),
  MEMBERSHIP_NOT_FOUND: notFound('membership'),
  ORGANIZATION_SLUG_TAKEN: conflict('Another sub-organization has this slug; take another one.'),
  ORGANIZATION_IN_USE: conflict(
    'The organization still has projects or sub-organizations, which must go first, or is your own.',
  ),
  USERNAME_TAKEN: conflict('Another user of the organization has this username; take another one.'),
  ALREADY_A_MEMBER: conflict('This user or identity is a member already; change its role instead.'),
  LAST_ADMIN: conflict(
    'The last admin cannot be removed, or lose the admin role, a right by the role of a group, or its last way to log in; first make somebody else an admin who has a token or a client secret.',
  ),
});

/** What entries of `details` say of them. */
const DETAILS = declareDetailCodes({
  NOT_IN_FUTURE: 'The time must be in the future.',
  DOMAIN_NOT_ALLOWED: 'The organization sends no mails to addresses of this domain.',
  OWNED_HERE: 'The organization owns the account; delete the account instead.',
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly organizations: typeof ERRORS;
  }
}

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly organizations: keyof typeof DETAILS;
  }
}
