import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

/** Error codes of projects, their environments and members. */
const ERRORS = declareErrors({
  PROJECT_NOT_FOUND: notFound('project'),
  PROJECT_TEMPLATE_NOT_FOUND: notFound('project template'),
  ENVIRONMENT_NOT_FOUND: notFound('environment'),
  DELETE_PROTECTED: conflict('The resource is protected against deletion. Set hasDeleteProtection to false first.'),
  PROJECT_SLUG_TAKEN: conflict('Another project of the organization has this slug. Choose another one.'),
  ENVIRONMENT_SLUG_TAKEN: conflict('Another environment of the project has this slug. Choose another one.'),
  ENVIRONMENT_IMPORTED: conflict('Other environments import from this environment. Delete those imports first.'),
});

/** Messages of the codes in `details`. */
const DETAILS = declareDetailCodes({
  RESERVED: 'The name is reserved.',
  WRONG_PROJECT_TYPE: 'Projects of this type do not support the operation.',
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly projects: typeof ERRORS;
  }
}

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly projects: keyof typeof DETAILS;
  }
}
