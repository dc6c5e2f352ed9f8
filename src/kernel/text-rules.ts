import * as z from 'zod';

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
