import type { ErrorDetail } from './errors.js';
import { invalid } from './errors.js';
import { isNameable } from './suggestions.js';
import { pathOf, Violations } from './validation.js';
import { isStorable } from './value-rules.js';

/** A part of an input, with the path at which it begins: `body`, `input.slug`. */
export type ValueAtPath = readonly [path: string, value: unknown];

/** Where a value is. Its path is made only for a violation. */
interface ValuePlace {
  readonly inside: ValuePlace | null;
  readonly name: string | number;
  readonly depth: number;
  /** What is below has the same path. */
  readonly isEnd?: true;
}

/** As deep as bodies may be. Variables in a URL may be nested thousands of levels deep. */
const MAX_DEPTH = 64;
const NOT_STORABLE = 'must be well-formed Unicode without NUL characters';
const KEYS_NOT_STORABLE = 'must have only keys of well-formed Unicode without NUL characters';

/**
 * Where an input has text that Postgres cannot store, at any depth, keys too. Checked before any rule, so that none of them, and no
 * statement, meets such text. A path ends above a key that no error may repeat.
 */
export function unstorableIn(parts: readonly ValueAtPath[]): ErrorDetail[] {
  const violations = new Violations();
  const add = (place: ValuePlace, message: string): void => {
    if (!violations.isFull) violations.add(invalid(pathTo(place), message));
  };
  const open: { readonly value: object; readonly place: ValuePlace }[] = [];
  const look = (value: unknown, placed: () => ValuePlace): void => {
    if (typeof value === 'object' && value !== null) open.push({ value, place: placed() });
    else if (typeof value === 'string' && !isStorable(value)) add(placed(), NOT_STORABLE);
  };
  for (const [path, value] of parts) look(value, () => ({ inside: null, name: path, depth: 0 }));
  // Those that are added meanwhile too.
  for (const { value, place } of open) {
    const isList = Array.isArray(value);
    for (const [key, inner] of Object.entries(value)) {
      if (!isStorable(key)) add(place, KEYS_NOT_STORABLE);
      look(inner, () => below(place, isList ? Number(key) : key));
    }
  }
  return violations.list();
}

function below(place: ValuePlace, name: string | number): ValuePlace {
  if (place.isEnd) return place;
  const isNamed = typeof name === 'number' || isNameable(name);
  return isNamed && place.depth < MAX_DEPTH
    ? { inside: place, name, depth: place.depth + 1 }
    : { ...place, isEnd: true };
}

function pathTo(place: ValuePlace): string {
  const names: (string | number)[] = [];
  let at = place;
  for (; at.inside !== null; at = at.inside) names.push(at.name);
  return pathOf(names.reverse(), String(at.name));
}
