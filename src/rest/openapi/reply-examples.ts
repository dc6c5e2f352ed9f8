import type { JsonSchema } from '../response-schema.js';

/** Values of fields by name. */
export type KnownValues = ReadonlyMap<string, unknown>;

/** What a field is called, and what values it can have. */
interface Field {
  readonly name: string;
  readonly known: KnownValues;
}

const ID = '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11';
const TIME = '2026-01-31T12:00:00.000Z';
const PEM = '-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----\n';
/** For a field of which nothing is known: write an example into its description. */
const UNKNOWN = 'text';

/** Values of fields that have the same meaning everywhere. */
const COMMON: Readonly<Record<string, unknown>> = {
  name: 'Payments',
  description: 'Payments of the web shop',
  username: 'ada@example.com',
  nextCursor: 'eyJhZnRlciI6WyJEQl9QQVNTV09SRCJdfQ',
  message: 'The server rejected the credentials.',
  key: 'owner',
  value: 'payments',
  url: 'https://hooks.example.com/alerts',
};

/** The values in examples of requests, by the names of their fields. The first of a name counts. */
export function valuesIn(examples: readonly unknown[]): KnownValues {
  const values = new Map<string, unknown>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value) && !values.has(name)) values.set(name, inner);
      collect(inner);
    }
  };
  for (const example of examples) collect(example);
  return values;
}

/**
 * A value that fits the schema of a reply. A field has the first of these: the only value that it can have, the value in an example
 * request, the example in its description, and a value by its format or its name. Without any it is null, or else the word `text`.
 *
 * @param known values of fields in example requests: see `valuesIn`
 */
export const replyExample = (schema: JsonSchema, known: KnownValues): unknown => exampleOf(schema, { name: '', known });

function exampleOf(schema: JsonSchema, field: Field): unknown {
  if ('const' in schema) return schema.const;
  if ('anyOf' in schema) return exampleOf((schema.anyOf as JsonSchema[])[0] as JsonSchema, field);
  const types = [schema.type].flat() as string[];
  if (types.includes('array')) return listOf(schema.items as JsonSchema, field);
  if (types.includes('object')) return objectOf((schema.properties ?? {}) as Record<string, JsonSchema>, field);
  const given = field.known.get(field.name);
  if ('enum' in schema) return (schema.enum as unknown[]).includes(given) ? given : (schema.enum as unknown[])[0];
  if (types.includes('boolean')) return typeof given === 'boolean' ? given : false;
  if (types.includes('string')) return textOf(schema, field, types.includes('null'));
  return typeof given === 'number' ? given : 1;
}

function listOf(items: JsonSchema, field: Field): unknown[] {
  const given = field.known.get(field.name);
  if (items.type !== 'string') return Object.keys(items).length === 0 ? [] : [exampleOf(items, field)];
  const options = items.enum as unknown[] | undefined;
  const fits = (it: unknown): boolean => typeof it === 'string' && (options === undefined || options.includes(it));
  if (Array.isArray(given) && given.every(fits)) return given;
  const entry = exampleOf(items, field);
  return entry === UNKNOWN ? [] : [entry];
}

const objectOf = (properties: Readonly<Record<string, JsonSchema>>, { known }: Field): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, exampleOf(inner, { name, known })]));

function textOf({ format, description = '' }: JsonSchema, { name, known }: Field, isNullable: boolean): unknown {
  if (format === 'date-time') return TIME;
  const given = known.get(name);
  if (typeof given === 'string' && given !== '') return given;
  if (format === 'uuid' || /^_?id$|Id$/.test(name) || /^IDs? of/.test(String(description))) return ID;
  if (/in PEM\b/.test(String(description))) return PEM;
  const [, described] = /(?:for example|[Aa]lways) `([^`]+)`/.exec(String(description)) ?? [];
  return described ?? COMMON[name] ?? (isNullable ? null : UNKNOWN);
}
