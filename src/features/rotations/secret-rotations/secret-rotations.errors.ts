import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  SECRET_ROTATION_NOT_FOUND: notFound('rotation'),
  SECRET_ROTATION_ATTEMPT_NOT_FOUND: notFound('attempt of a rotation'),
  CREDENTIAL_DEBT_NOT_FOUND: notFound('unrevoked credential'),
  SECRET_ROTATION_NAME_TAKEN: conflict('The folder already has a rotation with this name. Choose another name.'),
  ROTATION_RUNNING: conflict(
    'The rotation is already running, or another one is changing the same account. Wait until it has ended.',
  ),
  ROTATION_DELETING: conflict(
    'The rotation is being deleted. Delete it again to retry the revocation of its credentials, or without revokeGeneratedCredentials to give them up.',
  ),
  REVOCATION_GIVEN_UP: conflict(
    'The rotation is deleted, but the revocation of its credentials was given up meanwhile: they may stay valid. The audit records secret-rotation:give-up-debt name them.',
  ),
  ROTATION_UNDECIDED: conflict('It is unknown which credential is valid. Reconcile the rotation first.'),
  ROTATION_ATTEMPT_BEGUN: conflict(
    'The attempt cannot be cancelled: it has already called the external system, or has ended.',
  ),
  ROTATION_CANCELLED: conflict('The attempt was cancelled before it called the external system.'),
  ROTATION_CONTINUES: {
    status: 503,
    error: 'ServiceUnavailable',
    message: 'The rotation is still running. Poll it until its status is no longer in_progress.',
    retryAfterSeconds: 10,
  },
  ROTATION_NOT_RECONCILABLE: conflict('Rotations of this type or with this method need no reconciliation.'),
  PASSWORD_RULE_NOT_FOUND: notFound('password rule'),
  PASSWORD_RULE_NAME_TAKEN: conflict(
    'The organization already has a password rule with this name. Choose another name.',
  ),
  PASSWORD_RULE_IN_USE: conflict('Rotations use the password rule. Change or delete them first.'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly secretRotations: typeof ERRORS;
  }
}
