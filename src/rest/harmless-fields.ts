import type * as z from 'zod';
import type { ErrorDetail } from '../kernel/errors.js';
import { invalid } from '../kernel/errors.js';
import { isId } from '../kernel/ids.js';
import { isNameable } from '../kernel/suggestions.js';
import type { HarmlessFields } from './route.js';
import { paramNames } from './sample-request.js';

/** A body without its harmless fields. */
interface StrippedBody {
  /** What the rules are to check: they refuse every field that they do not know. */
  readonly body: unknown;
  /** Of fields that differ from the path. */
  readonly violations: readonly ErrorDetail[];
  /** Value of `X-Ignored-Keys`; null if no field was ignored. */
  readonly ignored: string | null;
}

interface Declared {
  readonly rules: z.ZodObject;
  readonly harmless: HarmlessFields;
  readonly params: Readonly<Record<string, string>>;
}

/** Takes harmless fields out of the body of a request. */
export function withoutHarmless(body: unknown, { rules: { shape }, harmless, params }: Declared): StrippedBody {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, violations: [], ignored: null };
  const repeating = Object.fromEntries(Object.keys(params).map((name) => [name, name]));
  const allowed: HarmlessFields = { ...repeating, ...harmless };
  const inItems = withoutInItems(body as Fields, Object.keys(harmless));
  const fields = Object.entries(inItems.body);
  const found = fields.filter(([name]) => Object.hasOwn(allowed, name) && !Object.hasOwn(shape, name));
  const differs = ([name, value]: [string, unknown]): boolean => {
    const param = allowed[name] ?? null;
    return param !== null && !isSame(value, params[param]);
  };
  return {
    body: Object.fromEntries(fields.filter((field) => !found.includes(field))),
    violations: found
      .filter(differs)
      .map(([name]) => invalid(`body.${name}`, 'must be the same as in the path, or absent')),
    ignored: [...found.map(([name]) => name), ...inItems.ignored].join(', ') || null,
  };
}

/** An ID may be written in either case; two keys that differ in case are two secrets. */
const isSame = (value: unknown, param: string | undefined): boolean =>
  value === param || (typeof value === 'string' && isId(value) && value.toLowerCase() === param?.toLowerCase());

type Fields = Readonly<Record<string, unknown>>;

/** Takes those out that are named `channels[].createdAt`. */
function withoutInItems(body: Fields, paths: readonly string[]): { body: Fields; ignored: readonly string[] } {
  const ignored = new Set<string>();
  const stripped = { ...body };
  for (const [list = '', name = ''] of paths
    .filter((path) => path.includes(IN_ITEMS))
    .map((it) => it.split(IN_ITEMS))) {
    const items = Object.hasOwn(stripped, list) ? stripped[list] : undefined;
    if (!Array.isArray(items)) continue;
    stripped[list] = items.map((item: unknown) => {
      if (typeof item !== 'object' || item === null || !Object.hasOwn(item, name)) return item;
      ignored.add(name);
      const { [name]: _, ...rest } = item as Fields;
      return rest;
    });
  }
  return { body: stripped, ignored: [...ignored] };
}

/** @throws Error for a field that the rules know, or that repeats no parameter of the path */
export function checkHarmless(path: string, rules: z.ZodObject, harmless: HarmlessFields): void {
  for (const [name, param] of Object.entries(harmless)) {
    if (!isNameable(name.replace(IN_ITEMS, ''))) throw new Error(`the harmless field ${name} is no name`);
    if (name in rules.shape) throw new Error(`its rules know the harmless field ${name}`);
    if (param !== null && !paramNames(path).includes(param))
      throw new Error(`the harmless field ${name} repeats no parameter of the path`);
  }
}

/** Between a list and a field of its items. */
const IN_ITEMS = '[].';

const HANDLING = /^\s*handling\s*=\s*"?(?<value>\w*)"?\s*(?:;|$)/i;

/** True for `Prefer: handling=strict`. If a preference is repeated, the first one counts. Source: RFC 7240, 2. */
export function prefersStrict(header: string | readonly string[] | undefined): boolean {
  // A comma in quotes separates too: no registered preference has one.
  const [handling] = String(header ?? '')
    .split(',')
    .flatMap((preference) => HANDLING.exec(preference)?.groups?.value ?? []);
  return handling?.toLowerCase() === 'strict';
}
