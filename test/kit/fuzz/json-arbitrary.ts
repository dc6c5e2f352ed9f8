import type { Arbitrary } from 'fast-check';
import fc from '../properties.ts';

/** A JSON schema, as the API reference has them. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const LONGEST_TEXT = 80;
const MOST_ITEMS = 4;
/** Whole numbers beyond it are no schema's. */
const LARGEST = 2 ** 31 - 1;

/** Values that a schema allows, of moderate size. */
export function valuesOf(schema: JsonSchema): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(valuesOf));
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? fc.jsonValue() : fc.oneof(...types.map((type) => ofType(type, schema)));
}

function ofType(type: string, schema: JsonSchema): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return textsOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? LARGEST, LARGEST) });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? LARGEST, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? MOST_ITEMS, MOST_ITEMS)),
      });
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, valuesOf(value)])),
        { requiredKeys: [...(schema.required ?? [])].filter((key) => key in (schema.properties ?? {})) },
      );
    default:
      return fc.constant(null);
  }
}

/** By their rules: to make one takes a millisecond, and schemas have thousands. */
const texts = new Map<string, Arbitrary<string>>();

function textsOf({ minLength = 0, maxLength = LONGEST_TEXT, pattern }: JsonSchema): Arbitrary<string> {
  const rules = `${minLength} ${maxLength} ${pattern}`;
  const made = texts.get(rules) ?? newTexts(minLength, maxLength, pattern);
  texts.set(rules, made);
  return made;
}

function newTexts(minLength: number, maxLength: number, pattern: string | undefined): Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { size: 'small' });
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, LONGEST_TEXT)) });
}

/** What nobody asked for: other types, odd texts, edges of numbers. */
export const junk: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    0,
    -1,
    0.5,
    2 ** 31,
    2 ** 53,
    1e308,
    true,
    'true',
    [],
    {},
    [[]],
    'x'.repeat(3_000),
    '../..',
    '%00',
    '\u0000',
    '\ud800',
    '${a.b}',
    '/',
    '00000000-0000-0000-0000-000000000000',
    '*'.repeat(200),
    '2026-02-30T25:00:00Z',
    { __proto__: null, constructor: 1 },
  ),
);
