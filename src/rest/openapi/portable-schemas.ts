import type { JsonSchema } from '../response-schema.js';

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
export function dropTwins(schema: JsonSchema): Record<string, string> {
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
export const plainName = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();
