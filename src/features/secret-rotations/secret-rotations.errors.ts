import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

const ERRORS = declareErrors({
  SECRET_ROTATION_NOT_FOUND: notFound('rotation'),
  SECRET_ROTATION_ATTEMPT_NOT_FOUND: notFound('attempt of a rotation'),
  SECRET_ROTATION_NAME_TAKEN: conflict('Another rotation of the folder has this name; take another one.'),
  ROTATION_RUNNING: conflict(
    'The rotation runs already, or another one changes the same account; wait until it has ended.',
  ),
  ROTATION_DELETING: conflict('The rotation is being deleted; delete it again to go on with that.'),
  ROTATION_UNDECIDED: conflict('Nobody can tell which credential works; reconcile the rotation first.'),
  ROTATION_ATTEMPT_BEGUN: conflict(
    'The outside system was asked already, or the attempt has ended: it cannot be cancelled.',
  ),
  ROTATION_CANCELLED: conflict('Somebody cancelled the attempt before it began.'),
  ROTATION_CONTINUES: {
    status: 503,
    error: 'ServiceUnavailable',
    message: 'The rotation goes on; ask for it until its status is no longer in_progress.',
    retryAfterSeconds: 10,
  },
  ROTATION_NOT_RECONCILABLE: conflict('Rotations of this type, or with this method, need no reconciliation.'),
  PASSWORD_RULE_NOT_FOUND: notFound('password rule'),
  PASSWORD_RULE_NAME_TAKEN: conflict('Another password rule of the organization has this name; take another one.'),
  PASSWORD_RULE_IN_USE: conflict('Rotations use the password rule; change or delete them first.'),
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly secretRotations: typeof ERRORS;
  }
}
