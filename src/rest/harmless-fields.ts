import type * as z from 'zod';
import type { ErrorDetail } from '../kernel/errors.js';
import { isNameable } from '../kernel/suggestions.js';
import type { HarmlessFields } from './route.js';
import { paramNames } from './sample-request.js';

/** A body without its harmless fields. */
export interface Relieved {
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
export function withoutHarmless(body: unknown, { rules: { shape }, harmless, params }: Declared): Relieved {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, violations: [], ignored: null };
  const repeating = Object.fromEntries(Object.keys(params).map((name) => [name, name]));
  const allowed: HarmlessFields = { ...repeating, ...harmless };
  const fields = Object.entries(body as Readonly<Record<string, unknown>>);
  const found = fields.filter(([name]) => Object.hasOwn(allowed, name) && !Object.hasOwn(shape, name));
  if (found.length === 0) return { body, violations: [], ignored: null };
  const differs = ([name, value]: [string, unknown]): boolean => {
    const param = allowed[name] ?? null;
    const isRepeated = typeof value === 'string' && value.toLowerCase() === params[param ?? '']?.toLowerCase();
    return param !== null && !isRepeated;
  };
  return {
    body: Object.fromEntries(fields.filter((field) => !found.includes(field))),
    violations: found.filter(differs).map(([name]) => ({
      path: `body.${name}`,
      code: 'INVALID',
      message: 'must be the same as in the path, or absent',
    })),
    ignored: found.map(([name]) => name).join(', '),
  };
}

/** @throws Error for a field that the rules know, or that repeats no parameter of the path */
export function checkHarmless(path: string, rules: z.ZodObject, harmless: HarmlessFields): void {
  for (const [name, param] of Object.entries(harmless)) {
    if (!isNameable(name)) throw new Error(`the harmless field ${name} is no name`);
    if (name in rules.shape) throw new Error(`its rules know the harmless field ${name}`);
    if (param !== null && !paramNames(path).includes(param))
      throw new Error(`the harmless field ${name} repeats no parameter of the path`);
  }
}

const HANDLING = /^\s*handling\s*=\s*"?(?<value>\w*)"?\s*(?:;|$)/i;

/** True for `Prefer: handling=strict`. If a preference is repeated, the first one counts. Source: RFC 7240, 2. */
export function prefersStrict(header: string | readonly string[] | undefined): boolean {
  // A comma in quotes separates too: no registered preference has one.
  const [handling] = String(header ?? '')
    .split(',')
    .flatMap((preference) => HANDLING.exec(preference)?.groups?.value ?? []);
  return handling?.toLowerCase() === 'strict';
}
