import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  PRIVILEGE_NOT_FOUND: notFound('additional privilege'),
  PRIVILEGE_SLUG_TAKEN: conflict('Another privilege of the member has this slug. Choose another one.'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly privileges: typeof ERRORS;
  }
}
