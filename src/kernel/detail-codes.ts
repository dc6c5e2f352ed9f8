/**
 * Machine words of `details[].code`, each with what it says of its place: the closed set, but for codes of errors (a thing of
 * a batch that is not found has `SECRET_NOT_FOUND`) and, in PERMISSION_DENIED, missing actions.
 */
const GENERAL = {
  MISSING: 'It must be given.',
  UNKNOWN_KEY:
    'It has an unknown field or parameter. The message names it if it is an identifier of at most 40 characters.',
  REPEATED: 'It must be given once.',
  DUPLICATE: 'It was named before in the same list or file.',
  INVALID_TYPE: 'It must be of another type.',
  INVALID_VALUE: 'It must be one of the values that the message names.',
  INVALID_FORMAT: 'It must have the form that the message names.',
  INVALID_CURSOR: 'It must be a cursor that this list gave out.',
  INVALID: 'It breaks the rule that the message names.',
  TOO_SMALL: 'It is too short, too small, or has too few entries.',
  TOO_BIG: 'It is too long, too large, or has too many entries.',
  TOO_MANY: 'More items than allowed, or more violations than are listed.',
  PRIVATE_TARGET: 'It names this machine or a private network, which the operator does not allow.',
  NOT_ONE: 'Exactly one of several fields must be given.',
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
