import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  GROUP_NOT_FOUND: notFound('group'),
  GROUP_SLUG_TAKEN: conflict('Another group of the organization has this slug. Choose another slug.'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly groups: typeof ERRORS;
  }
}
