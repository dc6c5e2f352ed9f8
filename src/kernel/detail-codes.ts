import type { Action } from './authz/ability.js';

/**
 * Machine words of `details[].code`, each with what it says of its place: the closed set, but for codes of errors (a thing of
 * a batch that is not found has `SECRET_NOT_FOUND`) and, in PERMISSION_DENIED, verbs of actions.
 */
export const DETAIL_CODES = {
  MISSING: 'It must be given.',
  UNKNOWN_KEY: 'It has a key, field or parameter that is not known there. The message tells which one, by position.',
  REPEATED: 'It must be given once.',
  DUPLICATE: 'It was named before in the same list or file.',
  INVALID_TYPE: 'It must be of another type.',
  INVALID_VALUE: 'It must be one of the values that the message names.',
  INVALID_FORMAT: 'It must have the form that the message names.',
  INVALID_CURSOR: 'It must be a cursor that this list gave out.',
  INVALID_GLOB: 'It is no glob.',
  INVALID: 'It breaks the rule that the message names.',
  TOO_SMALL: 'It is too short, too small, or has too few entries.',
  TOO_BIG: 'It is too long, too large, or has too many entries.',
  TOO_MANY: 'A file has more secrets than one file may have.',
  NOT_ONE: 'Exactly one of several fields must be given.',
  TTL_ABOVE_MAXIMUM: 'The time to live is longer than the longest one that is allowed.',
  LIMITED_TOKEN: 'The token has a limit on uses, or less life than the configuration of its identity gives.',
  READ_MIXED: 'The action `read` stands beside those that it is made of.',
  RESERVED: 'The name is one of ours.',
  WRONG_PROJECT_TYPE: 'The project is of a type that has no such things.',
  NOT_SUPPORTED_YET: 'It is not supported yet.',
  ROOT_FOLDER: 'The root folder cannot be changed.',
  FOLDER_INTO_ITSELF: 'A folder cannot be moved into itself.',
  SAME_FOLDER: 'Source and destination are one folder.',
  IMPORT_OF_ITSELF: 'A folder cannot import itself.',
  PERSONAL_NEEDS_USER: 'Only users have personal secrets.',
  NOT_PERSONAL: 'A personal secret has that of the shared one.',
  SHARED_ONLY: 'Only shared secrets have this.',
  ENCRYPTION_REQUIRED: 'The project wants all metadata encrypted.',
  IS_DELETION: 'The version is a deletion and holds nothing.',
  OWNED_HERE: 'The organization owns the account; delete the account instead.',
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
  MADE: 'What the first request with this idempotency key made.',
  TEXT_LIMIT: 'The document has too many bytes.',
  TOKENS_LIMIT: 'The document has too many tokens.',
  NESTING_LIMIT: 'The document has too many brackets inside one another.',
  DEPTH_LIMIT: 'The document has too many fields inside one another.',
  SELECTIONS_LIMIT: 'The document has too many selections.',
  COST_LIMIT: 'The document has too many objects in its answer.',
  ALIASES_LIMIT: 'The document has too many aliases.',
  DIRECTIVES_LIMIT: 'The document has too many directives.',
  FRAGMENTS_LIMIT: 'The document has too many fragments.',
  OPERATIONS_LIMIT: 'The document has too many operations.',
  BRANCHES_LIMIT: 'The document has too many fields with fields below them in one place of the answer.',
  LEAVES_LIMIT: 'The document has too many fields without fields below them in one place of the answer.',
  INTROSPECTION_DEPTH_LIMIT: 'The document has too many fields inside one another below `__schema` or `__type`.',
  INTROSPECTION_COST_LIMIT: 'The document has too many objects in its answer below `__schema` and `__type`.',
} as const satisfies Record<string, string>;

/** What an action does to its subject: `edit`. */
export type Verb<A extends Action = Action> = A extends `${string}:${infer V}` ? V : never;

/** What `details[].code` may say, beside codes of errors. */
export type DetailCode = keyof typeof DETAIL_CODES | Verb;
