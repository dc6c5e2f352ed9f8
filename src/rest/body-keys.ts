import type { z } from 'zod';
import type { ErrorDetail } from '../kernel/errors.js';
import { mapYielding } from '../kernel/event-loop.js';
import { isNameable, misspeltName } from '../kernel/suggestions.js';
import { MAX_UNKNOWN_KEYS, pathOf, Violations } from '../kernel/validation.js';
import { bareRules } from './rule-kinds.js';

/** A body without its unknown keys, and what became of those. */
export interface SeparatedBody {
  /** What the rules are to check. */
  readonly known: unknown;
  readonly violations: readonly ErrorDetail[];
  /** Value of `X-Ignored-Keys`; null when no key was ignored. */
  readonly ignored: string | null;
}

/** Takes unknown keys out of the body of a request. Made once for each route. */
export interface BodyKeys {
  /** The object rules whose unknown keys are ignored, for the API reference. */
  readonly open: ReadonlySet<z.core.$ZodType>;
  /** @param isStrict whether every unknown key is refused, and not only the misspelt ones */
  separate(body: unknown, isStrict: boolean): Promise<SeparatedBody>;
}

/**
 * What a route does with keys of a body that its rules do not know. A misspelt key is refused, so that no field is lost by a slip. Any
 * other is ignored and listed in `X-Ignored-Keys`, since clients in use send fields that mean nothing here. More than 20 are refused:
 * each is compared with the known ones.
 *
 * @param exactKeys keys of the body below which every unknown key is left to the rules, which refuse it
 */
export function bodyKeys(rules: z.ZodObject, exactKeys: readonly string[] = []): BodyKeys {
  const open = new Set<z.core.$ZodType>([rules]);
  const fields = fieldsOf(rules, open, exactKeys);
  return {
    open,
    separate: async (body, isStrict) => {
      const found = new UnknownKeys();
      const known = await separateRoot(fields, body, found);
      return { known, ...found.outcome(isStrict) };
    },
  };
}

/** How unknown keys are found in a value. */
type Shape =
  | { readonly kind: 'object'; readonly fields: Fields }
  | { readonly kind: 'list'; readonly element: Shape }
  | { readonly kind: 'choice'; readonly discriminator: string; readonly shapes: ReadonlyMap<unknown, Shape> };

/** The known keys of an object; null for a value that holds no object with rules of its own. */
type Fields = ReadonlyMap<string, Shape | null>;

const fieldsOf = ({ shape }: z.ZodObject, open: Set<z.core.$ZodType>, exactKeys: readonly string[] = []): Fields =>
  new Map(
    Object.entries(shape).map(
      ([name, rules]) => [name, exactKeys.includes(name) ? null : shapeOf(rules, open)] as const,
    ),
  );

function shapeOf(given: z.core.$ZodType, open: Set<z.core.$ZodType>): Shape | null {
  const rules = bareRules(given);
  switch ((rules as z.ZodType)._zod.def.type) {
    case 'object':
      open.add(rules);
      return { kind: 'object', fields: fieldsOf(rules as z.ZodObject, open) };
    case 'array': {
      const element = shapeOf((rules as z.ZodArray).element, open);
      return element && { kind: 'list', element };
    }
    case 'union':
      return shapeOfUnion(rules as z.ZodUnion | z.ZodDiscriminatedUnion, open);
    default:
      return null;
  }
}

/** Where several shapes are allowed without a discriminator, the known keys depend on the values; the rules refuse unknown ones. */
function shapeOfUnion(rules: z.ZodUnion | z.ZodDiscriminatedUnion, open: Set<z.core.$ZodType>): Shape | null {
  const { discriminator } = rules.def as { discriminator?: string };
  const opened = new Set<z.core.$ZodType>();
  const shaped = rules.options.flatMap((option) => {
    const shape = shapeOf(option as z.ZodType, opened);
    return shape === null ? [] : [{ option: option as z.ZodType, shape }];
  });
  if (discriminator === undefined && shaped.length > 1) return null;
  for (const each of opened) open.add(each);
  if (discriminator === undefined) return shaped[0]?.shape ?? null;
  const shapes = new Map<unknown, Shape>();
  for (const { option, shape } of shaped)
    for (const value of option._zod.propValues?.[discriminator] ?? []) shapes.set(value, shape);
  return { kind: 'choice', discriminator, shapes };
}

interface UnknownKey {
  readonly path: string;
  readonly key: string;
  readonly object: object;
  /** The keys that the object may have. */
  readonly known: readonly string[];
}

/** The unknown keys of a body: the first 20, and how many there are. */
class UnknownKeys {
  /** Where in the body the search is. */
  readonly path: PropertyKey[] = [];
  readonly #first: UnknownKey[] = [];
  #count = 0;

  add(key: string, object: object, fields: Fields): void {
    this.#count += 1;
    if (this.#count > MAX_UNKNOWN_KEYS) return;
    this.#first.push({ path: pathOf(this.path, 'body'), key, object, known: [...fields.keys()] });
  }

  outcome(isStrict: boolean): Omit<SeparatedBody, 'known'> {
    if (this.#count > MAX_UNKNOWN_KEYS) {
      const message = `${this.#count} unknown fields, including those in nested objects; at most ${MAX_UNKNOWN_KEYS} are ignored`;
      return { violations: [{ path: 'body', code: 'UNKNOWN_KEY', message }], ignored: null };
    }
    const refused = isStrict ? this.#first : this.#first.filter(isMisspelt);
    const violations = new Violations();
    for (const { path, key, ...rest } of refused)
      violations.addUnknownKeys(() => path, { keys: [key], noun: 'field', ...rest });
    const ignored = this.#first.filter((each) => !refused.includes(each)).map(({ key }) => key);
    return { violations: violations.list(), ignored: ignored.length === 0 ? null : listOf(ignored) };
  }
}

/** A key beside the one that it looks like is no slip: nothing is lost. */
const isMisspelt = ({ key, object, known }: UnknownKey): boolean =>
  misspeltName(
    key,
    known.filter((name) => !Object.hasOwn(object, name)),
  ) !== undefined;

/** `id, path, others=2`: each name once; names that no header should repeat are only counted. */
function listOf(keys: readonly string[]): string {
  const others = keys.filter((key) => !isNameable(key)).length;
  return [...new Set(keys.filter(isNameable)), ...(others === 0 ? [] : [`others=${others}`])].join(', ');
}

/** As `separate`, for a whole body: other requests run while its lists are searched. */
async function separateRoot(fields: Fields, body: unknown, found: UnknownKeys): Promise<unknown> {
  if (!isObject(body)) return body;
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const shape = fields.get(key);
    if (shape === undefined) found.add(key, body, fields);
    else if (shape?.kind === 'list' && Array.isArray(value))
      known[key] = await mapYielding(value, (item, index) => separateAt([key, index], shape.element, item, found));
    else known[key] = shape === null ? value : separateAt([key], shape, value, found);
  }
  return known;
}

/** A value without its unknown keys. A value of another type than the rules want stays as it is: the rules refuse it. */
function separate(shape: Shape, value: unknown, found: UnknownKeys): unknown {
  switch (shape.kind) {
    case 'list':
      if (!Array.isArray(value)) return value;
      return value.map((item, index) => separateAt([index], shape.element, item, found));
    case 'choice': {
      const chosen = isObject(value) ? shape.shapes.get(value[shape.discriminator]) : undefined;
      return chosen === undefined ? value : separate(chosen, value, found);
    }
    case 'object':
      return isObject(value) ? separateObject(shape.fields, value, found) : value;
  }
}

function separateAt(path: readonly PropertyKey[], shape: Shape, value: unknown, found: UnknownKeys): unknown {
  found.path.push(...path);
  const known = separate(shape, value, found);
  found.path.length -= path.length;
  return known;
}

function separateObject(fields: Fields, object: Readonly<Record<string, unknown>>, found: UnknownKeys): object {
  // Only known keys are written: `__proto__` is none.
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) {
    const shape = fields.get(key);
    if (shape === undefined) found.add(key, object, fields);
    else known[key] = shape === null ? value : separateAt([key], shape, value, found);
  }
  return known;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const HANDLING = /^\s*handling\s*=\s*"?(?<value>\w*)"?\s*(?:;|$)/i;

/** True for `Prefer: handling=strict`. If a preference is repeated, the first one counts. Source: RFC 7240, 2. */
export function prefersStrict(header: string | readonly string[] | undefined): boolean {
  // A comma in quotes separates too: no registered preference has one.
  const [handling] = String(header ?? '')
    .split(',')
    .flatMap((preference) => HANDLING.exec(preference)?.groups?.value ?? []);
  return handling?.toLowerCase() === 'strict';
}
