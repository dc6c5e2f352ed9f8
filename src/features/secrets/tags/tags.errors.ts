import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  TAG_NOT_FOUND: notFound('tag'),
  TAG_SLUG_TAKEN: conflict('Another tag of the project has this slug. Choose another slug.'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly tags: typeof ERRORS;
  }
}
