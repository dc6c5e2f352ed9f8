import { conflict, declareErrors } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  KEY_NAME_TAKEN: conflict('The organization has a key with this name already. Choose another name.'),
  DEFAULT_KEY: conflict('The default key also encrypts values of the organization itself and cannot be disabled.'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly organizationKeys: typeof ERRORS;
  }
}
