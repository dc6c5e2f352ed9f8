import { declareDetailCodes } from '../../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

/** Error codes of organizations, their users and memberships. */
const ERRORS = declareErrors({
  ORGANIZATION_NOT_FOUND: notFound('organization'),
  USER_NOT_FOUND: notFound('user'),
  MEMBERSHIP_NOT_FOUND: notFound('membership'),
  ORGANIZATION_SLUG_TAKEN: conflict('Another sub-organization has this slug. Choose another slug.'),
  ORGANIZATION_IN_USE: conflict(
    'The organization still has projects or sub-organizations, or it is the organization of your token. Delete its projects and sub-organizations first.',
  ),
  USERNAME_TAKEN: conflict('Another user of the organization has this username. Choose another username.'),
  ALREADY_A_MEMBER: conflict('This user or identity is already a member. Change its role instead.'),
  LAST_ADMIN: conflict(
    'An organization or project needs an admin who can log in. Make somebody else an admin with a token or a client secret first.',
  ),
});

/** Codes of their violations. */
const DETAILS = declareDetailCodes({
  NOT_IN_FUTURE: 'The time is not in the future.',
  DOMAIN_NOT_ALLOWED: 'The organization does not send email to this domain.',
  OWNED_HERE: 'The organization owns the account. Delete the account instead.',
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly organizations: typeof ERRORS;
  }
}

declare module '../../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly organizations: keyof typeof DETAILS;
  }
}
