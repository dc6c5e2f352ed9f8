import { declareDetailCodes } from '../../../kernel/detail-codes.js';
import { conflict, declareErrors } from '../../../kernel/errors.js';

/** Error codes of project templates. The code for unknown templates belongs to the projects slice, which needs it to create projects. */
const ERRORS = declareErrors({
  PROJECT_TEMPLATE_NAME_TAKEN: conflict(
    'The organization already has a project template with this name. Choose another name.',
  ),
  PROJECT_TEMPLATE_BUILT_IN: conflict(
    'Built-in project templates cannot be changed or deleted. Create your own template instead.',
  ),
});

/** Detail codes of template lists. */
const DETAILS = declareDetailCodes({
  UNCHANGEABLE: 'It was set when the resource was created and cannot change.',
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly projectTemplates: typeof ERRORS;
  }
}

declare module '../../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly projectTemplates: keyof typeof DETAILS;
  }
}
