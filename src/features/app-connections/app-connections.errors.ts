import './kind/target-failure.js';
import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

const ERRORS = declareErrors({
  APP_CONNECTION_NOT_FOUND: notFound('connection'),
  APP_CONNECTION_NAME_TAKEN: conflict(
    'Another connection of the project, or of the organization itself, has this name.',
  ),
  CONNECTION_IN_USE: conflict(
    'Rotations use the connection, or credentials that they have made are still to be revoked by it; delete them, or wait for that, first.',
  ),
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly appConnections: typeof ERRORS;
  }
}
