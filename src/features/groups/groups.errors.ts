import { declareErrors, notFound } from '../../kernel/errors.js';

/** Error codes of groups. */
const ERRORS = declareErrors({ GROUP_NOT_FOUND: notFound('group') });

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly groups: typeof ERRORS;
  }
}
