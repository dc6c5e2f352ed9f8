import './kind/target-failure.js';
import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  APP_CONNECTION_NOT_FOUND: notFound('connection'),
  APP_CONNECTION_NAME_TAKEN: conflict(
    'The project or organization already has a connection with this name. Choose another name.',
  ),
  ACCOUNT_ROTATED: conflict(
    'A rotation of the organization already replaces the credentials of this account. Use another account, or delete that rotation first.',
  ),
  ACCOUNT_OF_CONNECTION: conflict(
    'A connection of the organization logs in to this account, and could not after a rotation. Give the connection another account first.',
  ),
  CONNECTION_IN_USE: conflict(
    'Rotations use the connection, or credentials that they created are still to be revoked with it. Delete the rotations and wait for the revocations first, or create another connection.',
  ),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly appConnections: typeof ERRORS;
  }
}
