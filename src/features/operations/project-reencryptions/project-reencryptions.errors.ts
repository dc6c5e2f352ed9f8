import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  REENCRYPTION_NOT_FOUND: notFound('re-encryption'),
  REENCRYPTION_RUNNING: conflict('A re-encryption of the project has not ended. Wait for it, or cancel it.'),
  REENCRYPTION_ENDED: conflict('The re-encryption has ended. Start another one.'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly projectReencryptions: typeof ERRORS;
  }
}
