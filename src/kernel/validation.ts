import { z } from 'zod';
import { AppError, type ErrorDetail } from './errors.js';

const NAMEABLE = /^[A-Za-z_$][\w-]{0,39}$/;

/**
 * Checks what a caller sent against rules.
 *
 * @param prefix where the input stood in the request, for the paths of faults: `body`, `query`, or nothing for GraphQL inputs
 * @throws VALIDATION_FAILED with every fault at once, and no value of the caller
 * Source: decisions 2.3, 2.5.
 */
export function parse<T extends z.ZodType>(rules: T, raw: unknown, prefix = ''): z.output<T> {
  const parsed = rules.safeParse(raw, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw validationFailed(faultsOf(parsed.error, prefix));
}

/** VALIDATION_FAILED with its faults. */
export const validationFailed = (details: readonly ErrorDetail[]): AppError =>
  new AppError('VALIDATION_FAILED', undefined, { details });

/** Whether rules refuse unknown keys, at every depth. */
export function isStrict(rules: z.ZodType): boolean {
  let isOpen = false;
  JSON.stringify(z.toJSONSchema(rules, { io: 'input', unrepresentable: 'any' }), (_, node) => {
    isOpen ||= node?.type === 'object' && node.properties !== undefined && node.additionalProperties !== false;
    return node as unknown;
  });
  return !isOpen;
}

/** The faults of a failed check, each with its place, a machine word and a sentence. */
export const faultsOf = (error: z.ZodError, prefix = ''): ErrorDetail[] =>
  error.issues.flatMap((issue) => faultsOfIssue(issue as z.core.$ZodIssue, prefix));

function faultsOfIssue(issue: z.core.$ZodIssue, prefix: string): ErrorDetail[] {
  const path = pathOf(issue.path, prefix);
  if (issue.code !== 'custom' && 'input' in issue && issue.input === undefined)
    return [{ path, code: 'MISSING', message: 'must be given' }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: NAMEABLE.test(key) ? pathOf([...issue.path, key], prefix) : path,
        code: 'UNKNOWN_KEY',
        message: 'is not known here; see the API reference for what is',
      }));
    case 'invalid_type':
      return [
        issue.message.endsWith('received undefined')
          ? { path, code: 'MISSING', message: 'must be given' }
          : { path, code: 'INVALID_TYPE', message: `must be ${typeName(issue.expected)}` },
      ];
    case 'too_small':
      return [{ path, code: 'TOO_SMALL', message: `must ${boundOf(issue.origin, 'at least', Number(issue.minimum))}` }];
    case 'too_big':
      return [{ path, code: 'TOO_BIG', message: `must ${boundOf(issue.origin, 'at most', Number(issue.maximum))}` }];
    case 'invalid_value':
      return [{ path, code: 'INVALID_VALUE', message: `must be ${issue.values.map(String).join(' or ')}` }];
    case 'custom':
      return [{ path, code: String(issue.params?.code ?? 'INVALID'), message: issue.message }];
    case 'invalid_union':
      if ('options' in issue && issue.options !== undefined) return [unknownKind(issue, issue.options, path)];
      return bestBranch(issue).flatMap((inner) =>
        faultsOfIssue({ ...inner, path: [...issue.path, ...inner.path] }, prefix),
      );
    case 'invalid_format':
      return [
        {
          path,
          code: 'INVALID_FORMAT',
          message: OWN_WORDS.test(issue.message) ? issue.message : `must be ${formatName(issue.format)}`,
        },
      ];
    default:
      return [{ path, code: 'INVALID', message: 'is not valid' }];
  }
}

/** Of several kinds of things, told apart by one key, the input is none. */
function unknownKind(
  { discriminator = '', input }: z.core.$ZodIssueInvalidUnion,
  kinds: readonly unknown[],
  path: string,
): ErrorDetail {
  return (input as Readonly<Record<string, unknown>> | null)?.[discriminator] === undefined
    ? { path, code: 'MISSING', message: 'must be given' }
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
    : [{ code: 'custom', path: [], message: 'fits none of the allowed shapes', input: undefined }];
}

/** How deep the input fits: none of it where it is of another type altogether. */
const depthOf = (branch: readonly z.core.$ZodIssue[]): number =>
  branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0)
    ? 0
    : 1 + Math.max(0, ...branch.map(({ path }) => path.length));

/** `body.secrets[3].secretKey`. Keys that a caller made up are not named: they may be values that slipped. */
export function pathOf(path: readonly PropertyKey[], prefix: string): string {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    return `${before}.${NAMEABLE.test(String(part)) ? String(part) : '?'}`;
  }, prefix);
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
  email: 'an e-mail address',
  url: 'an address',
  datetime: 'a date and time (ISO 8601)',
};
const formatName = (format: string): string => FORMAT_NAMES[format] ?? 'of the expected form';

function boundOf(origin: string, bound: string, limit: number): string {
  if (origin === 'string') return `have ${bound} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `have ${bound} ${limit} entries`;
  return `be ${bound} ${limit}`;
}
