import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  PROJECT_HAS_ADMIN: conflict(
    'The project has an admin, is being rescued, or you are an admin of it for longer. Contact its admin, or wait until the rescue ends.',
  ),
  PROJECT_RESCUE_NOT_FOUND: notFound('rescue of a project'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly projectRescues: typeof ERRORS;
  }
}
