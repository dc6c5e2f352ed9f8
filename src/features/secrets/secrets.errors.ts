import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound, row } from '../../kernel/errors.js';

/** Error codes of secrets, folders and imports. */
const ERRORS = declareErrors({
  FOLDER_NOT_FOUND: notFound('folder'),
  SECRET_NOT_FOUND: notFound('secret'),
  IMPORT_NOT_FOUND: notFound('import'),
  SECRET_VERSION_NOT_FOUND: row(
    404,
    'NotFound',
    'The version of the secret does not exist, is not kept any more, or you may not know of it.',
  ),
  FOLDER_NAME_TAKEN: conflict('The folder has a sub-folder of this name already; take another name.'),
  FOLDER_NOT_EMPTY: conflict('The folder holds secrets, folders or imports; delete them first, or set forceDelete.'),
  FOLDER_IMPORTED: conflict('Other folders import from this one or from one in it; delete those imports first.'),
  IMPORT_EXISTS: conflict('The folder imports from there already; take another source, or change that import.'),
  IMPORT_CYCLE: conflict(
    'What is imported imports from here itself, directly or through others; delete one of those imports first.',
  ),
  SECRET_KEY_TAKEN: conflict('The folder has a secret of this key already; take another key, or change that secret.'),
  ROTATED_SECRET: conflict(
    'A rotation writes the secret: its value, key and place follow the rotation; change or delete that.',
  ),
  SECRET_VERSION_DIFFERS: conflict(
    'Secrets are at other versions than you expect; read those that details name again, and decide anew.',
  ),
  SECRET_REFERENCED: conflict(
    'Other secrets refer to the secret; give it a key of letters, digits, - and _, which references can name.',
  ),
  REFERENCES_TOO_LONG: conflict(
    'A value that names what gets another name would be longer than 512 KiB with it; take a shorter name, or shorten the value.',
  ),
  HISTORY_TOO_SHORT: conflict(
    'The kept versions of some secrets do not reach back to this moment; take a later one, or leave out what details name.',
  ),
  COPY_TOO_LARGE: row(
    413,
    'PayloadTooLarge',
    'The copy would have more than 10,000 secrets, 10,000 folders, or 16 MiB of values, comments and metadata; leave out parts of the project.',
  ),
  NOT_EXPRESSIBLE: row(422, 'ValidationFailed', 'The format cannot hold what details name; export as JSON, which can.'),
});

/** What entries of `details` say of them. */
const DETAILS = declareDetailCodes({
  NOT_SUPPORTED_YET: 'It is not supported yet.',
  ROOT_FOLDER: 'The root folder cannot be changed.',
  FOLDER_INTO_ITSELF: 'A folder cannot be moved into itself.',
  SAME_FOLDER: 'Source and destination are one folder.',
  IMPORT_OF_ITSELF: 'A folder cannot import itself.',
  PERSONAL_NEEDS_USER: 'Only users have personal secrets.',
  NOT_PERSONAL: 'A personal secret has that of the shared one.',
  SHARED_ONLY: 'Only shared secrets have this.',
  ENCRYPTION_REQUIRED: 'The project wants all metadata encrypted.',
  EMPTY_VALUE: 'The value of the secret is empty.',
  IS_DELETION: 'The version is a deletion and holds nothing.',
  MALFORMED_PAIR: 'The pair of key and value is malformed.',
  NOT_A_PAIR: 'The line of the file is no `KEY=value`, comment or blank.',
  LINE_SEPARATOR: 'The line of the file has a line separator outside of quotes.',
  NOT_JSON: 'The file is not valid JSON.',
  NOT_AN_OBJECT: 'The file is not one object.',
  NOT_TEXT: 'The entry of the file is no text.',
  NOT_YAML: 'The file is not valid YAML.',
  NOT_A_MAP: 'The file is not one map.',
  TOO_LARGE: 'The file has too many parts.',
  NO_VALUE: 'The entry of the file has no value.',
  ANCHOR: 'The file has an anchor.',
  TAG: 'The file has a tag.',
  ALIAS: 'The file has an alias.',
  DIRECTIVE: 'The file has a directive.',
  MANY_DOCUMENTS: 'The file has more than one document.',
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly secrets: typeof ERRORS;
  }
}

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly secrets: keyof typeof DETAILS;
  }
}
