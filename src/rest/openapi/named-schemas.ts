import { capitalized } from '../../kernel/names.js';
import { type JsonSchema, typeNameOf } from '../response-schema.js';

/**
 * Collects the schemas of objects under names, for `components.schemas`: one for each type that replies have, and one for each body.
 * What has the same shape has the same name, wherever it stands.
 */
export class NamedSchemas {
  readonly #nameByShape = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #schemas: Record<string, JsonSchema> = {};

  /** @param schemas those that have names already */
  constructor(schemas: Readonly<Record<string, JsonSchema>>) {
    for (const [name, schema] of Object.entries(schemas)) this.#define(name, schema);
  }

  /** All of them, by name. */
  get all(): JsonSchema {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A reference to the schema of what an operation answers. Objects in it are named after the types of GraphQL. */
  reply(schema: JsonSchema, operationId: string): JsonSchema {
    return this.#named(schema, { names: [`${capitalized(operationId)}Response`], owner: operationId, isReply: true });
  }

  /** A reference to the schema of what an operation takes. */
  body(schema: JsonSchema, operationId: string): JsonSchema {
    return this.#named(schema, { names: [`${capitalized(operationId)}Body`], owner: operationId, isReply: false });
  }

  #named(schema: JsonSchema, at: At): JsonSchema {
    if (Array.isArray(schema.anyOf)) return this.#ofUnion(schema, 'anyOf', at);
    if (Array.isArray(schema.oneOf)) return this.#ofUnion(schema, 'oneOf', at);
    if ('items' in schema) return { ...schema, items: this.#named(schema.items as JsonSchema, singular(at)) };
    if (schema.properties === undefined) return schema;
    const names = namesOf(schema, at);
    const properties = Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) => [
      name,
      this.#named(at.isReply ? property : withToldDefault(property), {
        ...at,
        names: [capitalized(name) + (at.isReply ? '' : 'Input')],
        owner: names[0] ?? '',
      }),
    ]);
    const { type, description, default: fallback, ...rest } = schema;
    const object = { type: 'object', ...rest, properties: Object.fromEntries(properties) };
    const reference = this.#reference(names, at.isReply ? openToMore(object) : object, description);
    return [type].flat().includes('null') ? { anyOf: [reference, { type: 'null' }] } : reference;
  }

  #ofUnion(schema: JsonSchema, kind: 'anyOf' | 'oneOf', at: At): JsonSchema {
    const given = schema[kind] as JsonSchema[];
    const isOfObjects = given.filter(({ properties }) => properties !== undefined).length > 1;
    const options = given.map((option) => this.#named(option, isOfObjects ? oneAmong(option, at) : at));
    const { description, ...union } = { ...schema, [kind]: options };
    return isOfObjects ? this.#reference(at.names, union, description) : { ...schema, [kind]: options };
  }

  #reference(names: readonly string[], schema: JsonSchema, description: unknown): JsonSchema {
    const shape = JSON.stringify(schema);
    const name = this.#nameByShape.get(shape) ?? this.#define(this.#free(names), schema);
    return { $ref: `#/components/schemas/${name}`, ...(description === undefined ? {} : { description }) };
  }

  #free(names: readonly string[]): string {
    const last = names.at(-1) as string;
    for (let count = 2; ; count += 1) {
      const free = [...names, `${last}${count}`].find((name) => !this.#taken.has(plainName(name)));
      if (free !== undefined) return free;
    }
  }

  #define(name: string, schema: JsonSchema): string {
    this.#taken.add(plainName(name));
    this.#nameByShape.set(JSON.stringify(schema), name);
    this.#schemas[name] = schema;
    return name;
  }
}

/** Where a schema stands. */
interface At {
  /** What it may be called, the best first. */
  readonly names: readonly string[];
  /** What it is part of. */
  readonly owner: string;
  readonly isReply: boolean;
}

function namesOf(schema: JsonSchema, { names, owner }: At): string[] {
  const type = typeNameOf(schema);
  const own = type === undefined ? names : [type, ...names];
  return [...new Set([...own, ...own.map((name) => capitalized(owner) + name)])];
}

/** A default is told in words: generators take a property with a default for one that is always there. */
function withToldDefault({ default: fallback, ...property }: JsonSchema): JsonSchema {
  if (fallback === undefined || /default|absent/i.test(String(property.description ?? ''))) return property;
  const reported = [property.description, `Default: \`${JSON.stringify(fallback).replaceAll('"', '')}\`.`];
  return { ...property, description: reported.filter((part) => part !== undefined).join(' ') };
}

/** Objects of a union are told apart by what their constant says: `subject: "tags"` makes a `TagsPermissionInput`. */
function oneAmong({ properties = {} }: JsonSchema, at: At): At {
  const [constant] = Object.values(properties as Record<string, JsonSchema>).flatMap((it) => it.const ?? it.enum ?? []);
  const prefix = String(constant ?? 'One')
    .split(/\W+/)
    .map(capitalized)
    .join('');
  return { ...at, names: at.names.map((name) => prefix + name) };
}

/** `TagsInput` of a list is `TagInput` of its items. */
const singular = (at: At): At => ({
  ...at,
  names: at.names.map((name) => name.replace(/ies(Input)?$/, 'y$1').replace(/([^s])s(Input)?$/, '$1$2')),
});

/** A reply may get more fields in time. Names that a generator cannot tell from another are answered, and are not declared. */
function openToMore({ additionalProperties, ...schema }: JsonSchema): JsonSchema {
  const object = { ...schema, properties: { ...(schema.properties as object) } };
  const aliases = dropTwins(object);
  const isMap = additionalProperties !== false && additionalProperties !== undefined;
  return {
    ...object,
    ...(isMap ? { additionalProperties } : {}),
    ...(Object.keys(aliases).length === 0 ? {} : { 'x-aliases': aliases, additionalProperties: true }),
  };
}

/** What the regular expressions of Go, Java and Python do not all know: properties of characters, and looking around. */
const UNPORTABLE = /\\[pPu]|\(\?(?:[=!]|<[=!])/;

/**
 * Changes a JSON schema of zod so that generators for other languages take it: patterns that other languages reject go (the server
 * checks them), and so do defaults that are objects or lists, and bounds of JavaScript's own numbers.
 */
export function makePortable(schema: JsonSchema): void {
  if (typeof schema.pattern === 'string' && (schema.format !== undefined || UNPORTABLE.test(schema.pattern)))
    delete schema.pattern;
  if (typeof schema.default === 'object' && schema.default !== null) delete schema.default;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.properties !== undefined) dropTwins(schema);
}

/** Of properties whose names differ by case or `_` only, generators make one: the first one stays, the others are its aliases. */
function dropTwins(schema: JsonSchema): Record<string, string> {
  const properties = schema.properties as Record<string, JsonSchema>;
  const first = new Map<string, string>();
  const aliases: Record<string, string> = {};
  for (const name of Object.keys(properties)) {
    const plain = plainName(name);
    const twin = first.get(plain);
    if (twin === undefined) first.set(plain, name);
    else {
      aliases[name] = twin;
      delete properties[name];
    }
  }
  if (Array.isArray(schema.required)) schema.required = schema.required.filter((name) => !(name in aliases));
  return aliases;
}

/** What generators for all languages keep of a name. */
const plainName = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();
