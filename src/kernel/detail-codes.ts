/**
 * Machine words of `details[].code`, each with what it says of its place: the closed set, but for codes of errors (a thing of
 * a batch that is not found has `SECRET_NOT_FOUND`) and, in PERMISSION_DENIED, missing actions.
 */
const GENERAL = {
  MISSING: 'The value is required.',
  UNKNOWN_KEY: 'Unknown field or parameter. The message names it if it is an identifier of at most 40 characters.',
  REPEATED: 'The value was sent more than once.',
  DUPLICATE: 'The same item appears earlier in the list or file.',
  INVALID_TYPE: 'The value has the wrong type.',
  INVALID_VALUE: 'The value is not one of those that the message lists.',
  INVALID_FORMAT: 'The value does not have the format that the message describes.',
  INVALID_CURSOR: 'The cursor is not from this list with these arguments.',
  INVALID: 'The value violates the rule that the message describes.',
  TOO_SMALL: 'The value is too short or too small, or the list has too few items.',
  TOO_BIG: 'The value is too long or too large, or the list has too many items.',
  TOO_MANY: 'More items than allowed, or more violations than are listed.',
  PRIVATE_TARGET: 'The address is on this machine or in a private network, which the operator does not allow.',
  DIFFERS: 'What exists has another value.',
  NOT_ONE: 'Exactly one of several fields is required.',
  MADE: 'What the first request with this idempotency key created.',
  TEXT_LIMIT: 'The document has too many bytes.',
  TOKENS_LIMIT: 'The document has too many tokens.',
  NESTING_LIMIT: 'The brackets in the document are nested too deeply.',
  DEPTH_LIMIT: 'The fields in the document are nested too deeply.',
  SELECTIONS_LIMIT: 'The document has too many selections.',
  COST_LIMIT: 'The estimated cost, the number of objects in the response, is too high.',
  OBJECTS_LIMIT: 'The response has too many objects.',
  ALIASES_LIMIT: 'The document has too many aliases.',
  DIRECTIVES_LIMIT: 'The document has too many directives.',
  FRAGMENTS_LIMIT: 'The document has too many fragments.',
  OPERATIONS_LIMIT: 'The document has too many operations.',
  BRANCHES_LIMIT: 'Too many fields with selections are merged into one field of the response.',
  LEAVES_LIMIT: 'Too many fields without selections are merged into one field of the response.',
  INTROSPECTION_DEPTH_LIMIT: 'The fields below `__schema` or `__type` are nested too deeply.',
  INTROSPECTION_COST_LIMIT: 'The estimated cost of `__schema` and `__type` is too high.',
} as const satisfies Record<string, string>;

/** What `details[].code` may say, beside codes of errors, by who declares it. Others add theirs by declaration merging. */
export interface DetailCodes {
  readonly general: keyof typeof GENERAL;
}

export type DetailCode = DetailCodes[keyof DetailCodes];

const table: Record<string, string> = { ...GENERAL };

/**
 * Adds the codes of a slice, each with what it says of its place, as its module is loaded.
 *
 * @throws Error for a code that is declared already
 */
export function declareDetailCodes<T extends Record<string, string>>(codes: T): T {
  for (const [code, description] of Object.entries(codes)) {
    if (Object.hasOwn(table, code)) throw new Error(`the detail code ${code} is declared twice`);
    table[code] = description;
  }
  return codes;
}

/** Every code that is declared, by name, with its description. */
export const detailCodes = (): readonly (readonly [code: string, description: string])[] =>
  Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));
