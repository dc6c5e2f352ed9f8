import * as z from 'zod';
import type { DetailCode } from './detail-codes.js';
import { AppError, type ErrorDetail, invalid } from './errors.js';
import { mapYielding, runAndYield } from './event-loop.js';
import { unknownName } from './suggestions.js';

/** So many unknown keys of one input are reported one by one, each with a suggestion; of more, only the number. */
const MAX_UNKNOWN_KEYS = 20;
/** So many violations of one request are reported. */
const MAX_VIOLATIONS = 1_000;
/** A longer list is checked in slices. */
const LONG_LIST = 50;

/** The keys that an object may have, and what its rules say of others: nothing, mostly. */
interface KnownKeys {
  readonly names: readonly string[];
  readonly said?: string | undefined;
}

/** By the list of those that an object should not have. */
type Known = ReadonlyMap<readonly string[], KnownKeys>;

/**
 * Checks what a caller sent against rules.
 *
 * @param prefix where the input stood in the request, for the paths of faults: `body`, `query`, or nothing for GraphQL inputs
 * @throws VALIDATION_FAILED with every fault at once, and no value of the caller
 */
export function parse<T extends z.ZodType>(rules: T, raw: unknown, prefix = ''): z.output<T> {
  const checked = check(rules, raw, prefix);
  if (checked.violations === undefined) return checked.data;
  throw validationFailed(checked.violations);
}

/** As `parse`, for an input whose lists may be long: other requests run while it is checked. */
export async function parseYielding<T extends z.ZodObject>(rules: T, raw: unknown): Promise<z.output<T>> {
  const checked = await checkYielding(rules, raw);
  if (checked.violations === undefined) return checked.data;
  throw validationFailed(checked.violations);
}

/**
 * For `refine` and `superRefine` of a list or an object as a whole: it is checked even where its entries or fields have faults of
 * their own, behind which zod would hide this one. Whatever is in it may then be missing or of any type.
 */
export const EVEN_IF_INVALID = {
  when: ({ value, issues }: z.core.ParsePayload): boolean =>
    typeof value === 'object' && value !== null && !issues.some(isOfWhole),
} as const;

/** An issue of an input that is no list or object at all. */
const isOfWhole = ({ code, path }: z.core.$ZodRawIssue): boolean =>
  code === 'invalid_type' && (path === undefined || path.length === 0);

/** Entries of a list that may have faults. One that is no object has no fields. */
export const objectEntries = (list: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] =>
  list.map((entry) =>
    typeof entry === 'object' && entry !== null ? (entry as Readonly<Record<string, unknown>>) : {},
  );

/** The texts that entries of such a list have in a field. */
export const textsOfField = (list: readonly unknown[], field: string): readonly string[] =>
  objectEntries(list).flatMap(({ [field]: text }) => (typeof text === 'string' ? [text] : []));

/** What the rules make of an input, or all its faults. */
export type Checked<T> =
  | { readonly data: T; readonly violations?: undefined }
  | { readonly violations: readonly ErrorDetail[]; readonly data?: undefined };

/** As `parse`, for whoever puts the faults of several places together. */
export function check<T extends z.ZodType>(rules: T, raw: unknown, prefix = ''): Checked<z.output<T>> {
  const known = new Map<readonly string[], KnownKeys>();
  const context = {
    async: false,
    reportInput: true,
    // The only place where zod says which object it was that did not know keys: an issue has them, not what it was checked by.
    error: (issue: z.core.$ZodRawIssue) => {
      if (issue.code === 'unrecognized_keys') known.set(issue.keys as readonly string[], knownTo(issue));
      return undefined;
    },
  } as const;
  // Not `safeParse`, which words every issue: an input of 1 MiB may have tens of thousands, of which few are reported.
  const result = rules._zod.run({ value: raw, issues: [] }, context);
  if (result instanceof Promise) throw new Error('rules must be synchronous');
  if (result.issues.length === 0) return { data: result.value as z.output<T> };
  const violations = new Violations();
  for (const issue of result.issues) {
    if (issue.code === 'unrecognized_keys') addUnknownKeys(issue, { prefix, known: knownTo(issue), violations });
    else if (!violations.isFull)
      addIssue(z.core.util.finalizeIssue(issue, context, z.core.config()) as z.core.$ZodIssue, {
        prefix,
        known,
        violations,
      });
  }
  return { violations: violations.list() };
}

/** As `check`, for an input whose lists may be long: other requests run while it is checked. */
export async function checkYielding<T extends z.ZodObject>(
  rules: T,
  raw: unknown,
  prefix = '',
): Promise<Checked<z.output<T>>> {
  const [name, list] = longListIn(rules, raw);
  if (list === undefined) return runAndYield(() => check(rules, raw, prefix));
  const { element } = rules.shape[name] as z.ZodArray<z.ZodType>;
  const entries = await mapYielding(list, (value) => element._zod.run({ value, issues: [] }, CONTEXT) as Entry);
  const isSound = entries.every(({ issues }) => issues.length === 0);
  const known = isSound ? entries.map(({ value }) => value) : list.slice(0, countReported(entries));
  const rest = isSound ? withUncheckedEntries(rules, name) : rules;
  return runAndYield(() => check(rest, { ...(raw as object), [name]: known }, prefix)) as Promise<Checked<z.output<T>>>;
}

type Entry = z.core.ParsePayload;
const CONTEXT = { async: false } as const;

/** The list of objects that an input has, if it is a long one. */
function longListIn({ shape }: z.ZodObject, raw: unknown): [name: string, list?: readonly unknown[]] {
  for (const [name, rule] of Object.entries(shape)) {
    const list = (raw as Readonly<Record<string, unknown>> | null)?.[name];
    if (rule instanceof z.ZodArray && Array.isArray(list) && list.length > LONG_LIST) return [name, list];
  }
  return [''];
}

/** The number of entries up to the last one whose violations are reported. Collecting more would take long. */
function countReported(entries: readonly Entry[]): number {
  let violations = 0;
  // Of unknown keys all are counted.
  const isUntold = ({ issues }: Entry): boolean => {
    if (violations > MAX_VIOLATIONS) return true;
    violations += issues.filter(({ code }) => code !== 'unrecognized_keys').length;
    return false;
  };
  const first = entries.findIndex(isUntold);
  return first < 0 ? entries.length : first;
}

/** By rules and the name of the list. */
const unchecked = new WeakMap<z.ZodObject, Map<string, z.ZodObject>>();

/** The same rules, for an input whose entries of a list are checked. */
function withUncheckedEntries(rules: z.ZodObject, name: string): z.ZodObject {
  const known = unchecked.get(rules) ?? new Map<string, z.ZodObject>();
  unchecked.set(rules, known);
  const before = known.get(name);
  if (before !== undefined) return before;
  const list = rules.shape[name] as z.ZodArray;
  const shape = { ...rules.shape, [name]: z.core.clone(list, { ...list._zod.def, element: z.any() }) };
  const made = z.core.clone(rules, { ...rules._zod.def, shape });
  known.set(name, made);
  return made;
}

function knownTo(issue: z.core.$ZodRawIssue): KnownKeys {
  const { inst } = issue;
  if (!(inst instanceof z.ZodObject)) return NONE_KNOWN;
  const said = (inst.def.error as z.core.$ZodErrorMap | undefined)?.(issue);
  return { names: Object.keys(inst.shape), said: typeof said === 'string' ? said : said?.message };
}

const NONE_KNOWN: KnownKeys = { names: [] };

/** VALIDATION_FAILED with its violations, up to a maximum. */
export function validationFailed(violations: readonly ErrorDetail[]): AppError {
  const details =
    violations.length <= MAX_VIOLATIONS
      ? violations
      : [
          ...violations.slice(0, MAX_VIOLATIONS),
          {
            path: 'request',
            code: 'TOO_MANY' as const,
            message: 'there are more violations, which are not listed',
          },
        ];
  return new AppError('VALIDATION_FAILED', undefined, { details });
}

/** @throws VALIDATION_FAILED with these violations, if there are any */
export function refuseViolations(violations: readonly ErrorDetail[]): void {
  if (violations.length > 0) throw validationFailed(violations);
}

/** Whether rules refuse unknown keys, at every depth. */
export function isStrict(rules: z.ZodType): boolean {
  const seen = new Set<unknown>();
  const isClosed = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return true;
    seen.add(node);
    if (!(node instanceof z.ZodType)) return Object.values(node).every(isClosed);
    if (node instanceof z.ZodObject && !(node.def.catchall instanceof z.ZodNever)) return false;
    return isClosed(node instanceof z.ZodLazy ? node.unwrap() : node instanceof z.ZodObject ? node.shape : node.def);
  };
  return isClosed(rules);
}

/** The violations of a failed check, each with its path, a code and a sentence: at most one more than are reported. */
export function violationsOf(error: z.ZodError, prefix = '', known: Known = new Map()): ErrorDetail[] {
  const violations = new Violations();
  for (const issue of error.issues) addIssue(issue as z.core.$ZodIssue, { prefix, known, violations });
  return violations.list();
}

/** Where an object has keys that it should not have. */
interface UnknownKeys {
  readonly object: object;
  readonly keys: readonly string[];
  /** The keys that the object may have, of which a near one is named. */
  readonly known: readonly string[];
  /** What is said in place of that. */
  readonly said?: string | undefined;
  /** What the keys are called: `field`, `parameter`. */
  readonly noun: string;
}

/**
 * Collects the violations of one input. What it takes is bounded, whatever the input holds: the first 1,001 are kept, and unknown keys
 * are compared with known ones only as long as there are few.
 */
export class Violations {
  readonly #violations: ErrorDetail[] = [];
  #unknown = 0;
  #first: { readonly path: string; readonly noun: string } | null = null;

  /** True when there are more than are reported. */
  get isFull(): boolean {
    return this.#violations.length > MAX_VIOLATIONS;
  }

  add(violation: ErrorDetail): void {
    if (!this.isFull) this.#violations.push(violation);
  }

  /**
   * Adds keys that an object should not have, by name where a name may be repeated.
   *
   * @param pathOf makes the path of the object
   */
  addUnknownKeys(pathOf: () => string, { object, keys, known, said, noun }: UnknownKeys): void {
    this.#first ??= { path: pathOf(), noun };
    this.#unknown += keys.length;
    if (this.#unknown > MAX_UNKNOWN_KEYS) return;
    const path = pathOf();
    const absent = known.filter((name) => !Object.hasOwn(object, name));
    for (const key of keys) this.add({ path, code: 'UNKNOWN_KEY', message: unknownName(noun, key, absent, said) });
  }

  /** All of them; of many unknown keys only the number, at the outermost path. */
  list(): ErrorDetail[] {
    if (this.#first === null || this.#unknown <= MAX_UNKNOWN_KEYS) return this.#violations;
    const { path, noun } = this.#first;
    const [root = path] = /^[^.[]+/.exec(path) ?? [];
    return [
      {
        path: root,
        code: 'UNKNOWN_KEY',
        message: `${this.#unknown} unknown ${noun}s, including those in nested objects`,
      },
      ...this.#violations.filter(({ code }) => code !== 'UNKNOWN_KEY'),
    ];
  }
}

interface Adding {
  readonly prefix: string;
  readonly known: Known;
  readonly violations: Violations;
}

function addUnknownKeys(
  { path = [], input, keys }: { path?: readonly PropertyKey[]; input?: unknown; keys: readonly string[] },
  { prefix, known, violations }: { prefix: string; known: KnownKeys; violations: Violations },
): void {
  const noun = prefix === 'query' ? 'parameter' : 'field';
  violations.addUnknownKeys(() => pathOf(path, prefix), {
    object: input as object,
    keys,
    known: known.names,
    said: known.said,
    noun,
  });
}

function addIssue(issue: z.core.$ZodIssue, { prefix, known, violations }: Adding): void {
  if (issue.code === 'unrecognized_keys')
    addUnknownKeys(issue, { prefix, known: known.get(issue.keys) ?? NONE_KNOWN, violations });
  else if (issue.code === 'invalid_union' && !('options' in issue && issue.options !== undefined)) {
    for (const inner of bestBranch(issue))
      addIssue({ ...inner, path: [...issue.path, ...inner.path] }, { prefix, known, violations });
  } else if (!violations.isFull) violations.add(violationOfIssue(issue, pathOf(issue.path, prefix)));
}

function violationOfIssue(issue: z.core.$ZodIssue, path: string): ErrorDetail {
  if (issue.code !== 'custom' && 'input' in issue && issue.input === undefined)
    return { path, code: 'MISSING', message: 'required' };
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? { path, code: 'MISSING', message: 'required' }
        : { path, code: 'INVALID_TYPE', message: `must be ${typeName(issue.expected)}` };
    case 'too_small':
      return { path, code: 'TOO_SMALL', message: boundOf(issue, 'at least', Number(issue.minimum)) };
    case 'too_big':
      return { path, code: 'TOO_BIG', message: boundOf(issue, 'at most', Number(issue.maximum)) };
    case 'invalid_value':
      return { path, code: 'INVALID_VALUE', message: `must be ${issue.values.map(String).join(' or ')}` };
    case 'custom':
      return { path, code: (issue.params?.code ?? 'INVALID') as DetailCode, message: issue.message };
    case 'invalid_union':
      return unknownKind(issue, path);
    case 'invalid_format':
      return {
        path,
        code: 'INVALID_FORMAT',
        message: OWN_WORDS.test(issue.message) ? issue.message : `must be ${formatName(issue.format)}`,
      };
    default:
      return invalid(path, 'is invalid');
  }
}

/** Of several kinds of things, told apart by one key, the input is none. */
function unknownKind(issue: z.core.$ZodIssueInvalidUnion, path: string): ErrorDetail {
  const { discriminator = '', input } = issue;
  const kinds = 'options' in issue ? (issue.options ?? []) : [];
  return (input as Readonly<Record<string, unknown>> | null)?.[discriminator] === undefined
    ? { path, code: 'MISSING', message: 'required' }
    : { path, code: 'INVALID_VALUE', message: `must be ${kinds.map(String).join(' or ')}` };
}

/** Messages of our rules begin so; those of zod do not. */
const OWN_WORDS = /^(must|may|is|are|cannot) /;

/** Of the kinds that a union allows, the one that the input came nearest to. */
function bestBranch(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] {
  const [first = [], ...others] = issue.errors;
  const best = others.reduce((near, branch) => (depthOf(branch) > depthOf(near) ? branch : near), first);
  return best.length > 0
    ? best
    : [{ code: 'custom', path: [], message: 'must match one of the allowed shapes', input: undefined }];
}

/** How deep the input fits: none of it where it is of another type altogether. */
const depthOf = (branch: readonly z.core.$ZodIssue[]): number =>
  branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0)
    ? 0
    : 1 + Math.max(0, ...branch.map(({ path }) => path.length));

/** `body.secrets[3].secretKey`. Names in it are those of rules: none is a caller's. */
export function pathOf(path: readonly PropertyKey[], prefix = ''): string {
  const text = path.reduce<string>(
    (before, part) => (typeof part === 'number' ? `${before}[${part}]` : `${before}.${String(part)}`),
    prefix,
  );
  return text.replace(/^\./, '') || 'input';
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  array: 'a list',
};
const typeName = (expected: string): string => TYPE_NAMES[expected] ?? `a ${expected}`;

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  email: 'an email address',
  url: 'a URL',
  datetime: 'a date and time in RFC 3339 format',
};
const formatName = (format: string): string => FORMAT_NAMES[format] ?? 'in the expected format';

function boundOf(
  { origin, message }: { readonly origin: string; readonly message: string },
  bound: string,
  limit: number,
): string {
  if (OWN_WORDS.test(message)) return message;
  if (origin === 'string') return `must have ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  return `must be ${bound} ${limit}`;
}
