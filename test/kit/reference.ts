import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The committed API reference, as it is. */
export const REFERENCE = JSON.parse(readFileSync(join(import.meta.dirname, '../../schema/openapi.json'), 'utf8'));

/** What was made of each object. Schemas stand in many places: each is made once, and shared. */
const resolvedOf = new Map<object, unknown>();
const closedOf = new Map<object, unknown>();

/**
 * Its paths with every reference replaced by what it names. Replies are closed, so that a test sees what is answered and not
 * promised: the reference itself leaves them open, since fields may be added.
 */
export const PATHS = resolved(REFERENCE.paths) as typeof REFERENCE;

function resolved(at: unknown): unknown {
  if (Array.isArray(at)) return at.map(resolved);
  if (typeof at !== 'object' || at === null) return at;
  const known = resolvedOf.get(at);
  if (known !== undefined) return known;
  const made = resolvedObject(at);
  resolvedOf.set(at, made);
  return made;
}

function resolvedObject(at: object): unknown {
  const { $ref, ...rest } = at as Record<string, unknown>;
  if (typeof $ref === 'string') {
    const [, , kind = '', name = ''] = $ref.split('/');
    const named = resolved(REFERENCE.components[kind][name]) as object;
    return Object.keys(rest).length === 0 ? named : { ...named, ...rest };
  }
  const inner = Object.fromEntries(Object.entries(at).map(([key, value]) => [key, resolved(value)]));
  return inner.responses === undefined ? inner : { ...inner, responses: closed(inner.responses) };
}

/** A schema, and what is in it, without room for other properties than those that are declared and their aliases. */
function closed(at: unknown): unknown {
  if (Array.isArray(at)) return at.map(closed);
  if (typeof at !== 'object' || at === null) return at;
  const known = closedOf.get(at);
  if (known !== undefined) return known;
  const made = closedObject(at);
  closedOf.set(at, made);
  return made;
}

function closedObject(at: object): unknown {
  const inner = Object.fromEntries(Object.entries(at).map(([key, value]) => [key, closed(value)]));
  const { type, properties, 'x-aliases': aliases } = inner as Record<string, Record<string, unknown> | undefined>;
  if (!String(type).startsWith('object') || properties === undefined) return inner;
  const others = Object.entries(aliases ?? {}).map(([alias, of]) => [alias, properties[of as string]]);
  return { ...inner, properties: { ...properties, ...Object.fromEntries(others) }, additionalProperties: false };
}
