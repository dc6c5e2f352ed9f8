import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors } from '../../kernel/errors.js';

/** Error codes of project templates. That one is not found is a code of projects, which are made from them. */
const ERRORS = declareErrors({
  PROJECT_TEMPLATE_NAME_TAKEN: conflict(
    'Another project template of the organization has this name; take another one.',
  ),
  PROJECT_TEMPLATE_BUILT_IN: conflict(
    'Built-in project templates cannot be changed or deleted; make a template of your own instead.',
  ),
});

/** What entries of `details` say of the lists of a template. */
const DETAILS = declareDetailCodes({
  UNCHANGEABLE: 'It was set when the resource was made, and cannot change.',
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly projectTemplates: typeof ERRORS;
  }
}

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly projectTemplates: keyof typeof DETAILS;
  }
}
