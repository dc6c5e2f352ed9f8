import * as z from 'zod';
import { AppError } from './errors.js';

/** Postgres stores no NUL, and half a surrogate pair is no text: the one would fail there, the other come back changed. */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/** Text of a person, trimmed; lengths in UTF-16 units. */
export const personText = (min: number, max: number) => z.string().trim().min(min).max(max);

/** Lower-case words joined by single hyphens, trimmed. */
export const slugText = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min)
    .max(max)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lowercase letters, digits and single hyphens between them');

/** Text as it was sent, untrimmed; length in UTF-16 units. */
export const storedText = (max: number) => z.string().max(max);

/**
 * A slug for a thing that was given none: its name in lower-case ASCII words, and a suffix that makes it likely unique.
 *
 * @param options `fallback`: what a name without a single such letter or digit counts as; `max`: length of the result
 */
export function slugFor(name: string, suffix: string, { fallback, max }: { fallback: string; max: number }): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const stem = trimHyphens(trimHyphens(words).slice(0, max - suffix.length - 1));
  return `${stem === '' ? fallback : stem}-${suffix}`;
}

const trimHyphens = (text: string): string => text.replace(/^-+|-+$/g, '');

/** Text of one line. */
export const HAS_NO_CONTROL_CHARACTERS = /^\P{Cc}*$/u;

/** Which scalar of GraphQL a rule is, where its type alone does not say. */
export const SCALARS = z.registry<{ readonly scalar: 'ID' }>();

/** An ID in a list of an input; the description of the list says what it is. Any string is accepted: one that is no ID is not found. */
export const anyId = z.string().register(SCALARS, { scalar: 'ID' });

/**
 * An ID in an input.
 *
 * @param about the resource, for the description: `project` is described as "ID of the project."; or a whole description
 */
export const idOf = (about: string) => anyId.meta({ description: about.endsWith('.') ? about : `ID of the ${about}.` });

/** The largest `Int` of GraphQL. */
const MAX_INT = 2_147_483_647;

/** A stored count as an `Int`. Postgres counts further: whatever is beyond `Int` is shown as its largest value. */
export const toInt = (count: string): number => Math.min(Number(count), MAX_INT);

/**
 * Rules of a whole number within bounds that are both inclusive. The message of a number outside of them names both.
 *
 * @param min the smallest number
 * @param max the largest number
 */
export function integer(min: number, max: number) {
  const error = `must be between ${min} and ${max}`;
  // Numbers that JavaScript cannot hold exactly fail the check of the type itself.
  const ofType = ({ code }: { readonly code: string }) => (code === 'invalid_type' ? undefined : error);
  return z.int({ error: ofType }).min(min, { error }).max(max, { error });
}

/** The largest version that a request can name, of whatever has versions. */
export const MAX_VERSION = 999_999_999;

/** The version of what an input changes, as its caller has seen it. */
export const expectedVersion = integer(1, MAX_VERSION).nullish().meta({
  description:
    'The version that you read. If the resource has another version by now, nothing changes and the error is CONCURRENT_CHANGE.',
});

/** @throws CONCURRENT_CHANGE that names the present version */
export function refuseOtherVersion(version: number, expected: number | null | undefined): void {
  if (expected == null || expected === version) return;
  throw new AppError('CONCURRENT_CHANGE', `The resource is at version ${version}. Read it again and retry.`, {
    details: [{ path: 'expectedVersion', code: 'CONCURRENT_CHANGE', message: `must be ${version}` }],
  });
}

/** The highest number where no lower one is named. */
export const MAX_LIMIT = 1_000_000_000;

/**
 * The rule of a setting that is made of numbers by name: `depth=20,cost=10000`, each name at most once, in any order.
 *
 * @param defaults all names, each with the number that it has when the setting does not name it
 * @param highest what a name may have at most, if less than a thousand million; the least is 1
 */
export function keyValueList<N extends string>(
  defaults: Readonly<Record<N, number>>,
  highest?: Readonly<Partial<Record<N, number>>>,
) {
  const lower = Object.entries(highest ?? {}).map(([name, most]) => `${name} to ${String(most)}`);
  const names = Object.keys(defaults)
    .map((name) => `${name}=N`)
    .join(',');
  const bounds = lower.length === 0 ? '' : ` (${lower.join(', ')})`;
  const message = `must be ${names}, each optional, with N from 1 to ${MAX_LIMIT}${bounds}`;
  const isKnown = (name: string): name is N => Object.hasOwn(defaults, name);
  return z.string().transform((text, check): Record<N, number> => {
    const numbers = new Map<string, number>();
    for (const entry of text.split(',')) {
      const { name = '', number } = /^\s*(?<name>\w+)\s*=\s*(?<number>\d{1,10})\s*$/.exec(entry)?.groups ?? {};
      const value = Number(number);
      if (!isKnown(name) || numbers.has(name) || value < 1 || value > (highest?.[name] ?? MAX_LIMIT)) {
        check.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
      numbers.set(name, value);
    }
    return { ...defaults, ...Object.fromEntries(numbers) };
  });
}
