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
    'The version of the secret does not exist or is no longer kept, or you are not allowed to see it.',
  ),
  FOLDER_NAME_TAKEN: conflict('The folder already contains a folder with this name. Choose another name.'),
  FOLDER_NOT_EMPTY: conflict('The folder contains secrets, folders or imports. Delete them first, or set forceDelete.'),
  FOLDER_IMPORTED: conflict('Other folders import this folder or a folder in it. Delete those imports first.'),
  IMPORT_EXISTS: conflict(
    'The folder already imports this source. Choose another source, or change the existing import.',
  ),
  IMPORT_CYCLE: conflict(
    'The import would be circular: the source imports this folder, directly or through other folders. Delete one of those imports first.',
  ),
  SECRET_KEY_TAKEN: conflict(
    'The folder already contains a secret with this key. Choose another key, or update that secret.',
  ),
  ROTATED_SECRET: conflict(
    'A secret rotation manages the value, key and location of this secret. Change or delete the rotation instead.',
  ),
  SECRET_VERSION_DIFFERS: conflict(
    'The versions of some secrets are not the expected ones. Read the secrets listed in details again, then retry.',
  ),
  SECRET_REFERENCED: conflict(
    'Other secrets reference this secret. Choose a key of letters, digits, - and _, so that references can name it.',
  ),
  REFERENCES_TOO_LONG: conflict(
    'After the rename, a value that references this secret would exceed 512 KiB. Choose a shorter name, or shorten the value.',
  ),
  HISTORY_TOO_SHORT: conflict(
    'The stored versions of some secrets do not go back to this point in time. Choose a later time, or leave out the secrets listed in details.',
  ),
  COPY_TOO_LARGE: row(
    413,
    'PayloadTooLarge',
    'The copy would exceed 10,000 secrets, 10,000 folders, or 16 MiB of values, comments and metadata. Copy only a part of the project.',
  ),
  NOT_EXPRESSIBLE: row(
    422,
    'ValidationFailed',
    'The format cannot represent the secrets listed in details. Export as JSON instead.',
  ),
});

/** Messages of the codes in `details`. */
const DETAILS = declareDetailCodes({
  NOT_SUPPORTED_YET: 'Not supported yet.',
  ROOT_FOLDER: 'The root folder cannot be changed.',
  FOLDER_INTO_ITSELF: 'A folder cannot be moved into itself.',
  SAME_FOLDER: 'The source and the destination are the same folder.',
  IMPORT_OF_ITSELF: 'A folder cannot import itself.',
  PERSONAL_NEEDS_USER: 'Only users have personal secrets.',
  NOT_PERSONAL: 'A personal secret takes this field from the shared secret.',
  SHARED_ONLY: 'Only shared secrets have this field.',
  ENCRYPTION_REQUIRED: 'The project requires encrypted metadata.',
  EMPTY_VALUE: 'The value of the secret is empty.',
  IS_DELETION: 'The version is a deletion and has no contents.',
  MALFORMED_PAIR: 'The key=value pair is malformed.',
  NOT_A_PAIR: 'The line is not `KEY=value`, a comment or blank.',
  READERS_DIFFER: 'Common readers of .env files read the line differently. The message says why.',
  LINE_SEPARATOR: 'The line contains a line separator outside of quotes.',
  NOT_JSON: 'The file is not valid JSON.',
  NOT_AN_OBJECT: 'The file is not a single object.',
  NOT_TEXT: 'The entry of the file is not a string.',
  NOT_YAML: 'The file is not valid YAML.',
  NOT_A_MAP: 'The file is not a single map.',
  TOO_LARGE: 'The file has too many parts.',
  NO_VALUE: 'The entry of the file has no value.',
  ANCHOR: 'The file contains an anchor.',
  TAG: 'The file contains a tag.',
  ALIAS: 'The file contains an alias.',
  DIRECTIVE: 'The file contains a directive.',
  MANY_DOCUMENTS: 'The file contains more than one document.',
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
