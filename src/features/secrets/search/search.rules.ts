import * as z from 'zod';
import { orderDirection } from '../../../kernel/list-order.js';
import { boundedPageRules, DISPLAY_RULES } from '../../../kernel/paging.js';
import { anyId, integer } from '../../../kernel/value-rules.js';
import { secretKey, secretValue } from '../core/secret.rules.js';
import { folderPath, secretLocation } from '../scope/location.rules.js';
import { metadataPairs } from '../scope/metadata-filter.rules.js';
import { tagSlug } from '../tags/public.js';

const MAX_PROJECTS = 1_000;
const MAX_WORDS = 100;

const keyText = z.string().min(1).max(255);

/** Filter on keys: exactly one of the three. */
export const KeyFilter = z
  .strictObject({
    equals: keyText.optional().meta({ description: 'Keys that equal this string, for example `DB_PASSWORD`.' }),
    startsWith: keyText.optional().meta({ description: 'Keys that start with this string, for example `DB_`.' }),
    glob: keyText.optional().meta({
      description:
        'Keys that match this pattern, for example `DB_*_URL`. `*` matches any characters and `?` exactly one; there is no escape.',
    }),
  })
  .refine(isOneOf, { error: 'must have exactly one of equals, startsWith and glob', params: { code: 'NOT_ONE' } })
  .meta({ description: 'Filter on keys. Set exactly one field.' });
type KeyFilter = z.infer<typeof KeyFilter>;

/** True when exactly one field is set. */
function isOneOf(input: object): boolean {
  return Object.values(input).filter((value) => value !== undefined).length === 1;
}

/** Projects and environments to search. Absent: all that the caller may read in. */
const where = {
  projectIds: z.array(anyId).min(1).max(MAX_PROJECTS).nullish().meta({
    description: 'Only these projects, at most 1,000. All projects that you are a member of when absent.',
  }),
  environments: z.array(secretLocation.environment).min(1).max(MAX_WORDS).nullish().meta({
    description:
      'Only environments with these slugs, at most 100. ENVIRONMENT_NOT_FOUND suggests a similar slug if no searched project has any of them.',
  }),
};

/** What found secrets can be ordered by, in place of their keys. */
const AGE_FIELDS = ['VALUE_CHANGED_AT', 'UPDATED_AT'] as const;
export const ageField = z.enum(AGE_FIELDS).meta({ description: 'Field to sort by.' });

/** Order of a search by time. */
export const AgeOrder = z
  .strictObject({ field: ageField, direction: orderDirection })
  .meta({ description: 'Sort order of a search by time.' });
export type AgeOrder = z.output<typeof AgeOrder>;

/** Input of `searchSecrets`. */
export const SecretSearch = z
  .strictObject({
    ...where,
    key: KeyFilter.nullish().meta({ description: 'Only secrets whose key matches.' }),
    secretPath: z
      .string()
      .min(1)
      .max(2_000)
      .nullish()
      .meta({
        description:
          'Only folders whose path matches this pattern, for example `/payments*`. `*` matches any characters, including ' +
          'slashes, and `?` exactly one.',
      }),
    tagSlugs: z.array(tagSlug).max(MAX_WORDS).nullish().meta({
      description: 'Only secrets with at least one of these tags: slugs, at most 100.',
    }),
    metadata: metadataPairs.nullish().meta({
      description: 'Only secrets with all of these metadata pairs, at most 10.',
    }),
    valueChangedBefore: z.date().nullish().meta({
      description:
        'Only secrets whose value was last changed before this time, such as 90 days ago: those that were not rotated since.',
    }),
    updatedBefore: z
      .date()
      .nullish()
      .meta({ description: 'Only secrets that were last changed in any way before this time.' }),
    orderBy: AgeOrder.nullish().meta({
      description:
        'Sort order: by a time, then ID. Default: by key, project, environment (both by slug), then path. A cursor is valid only with the sort order of the page it came from.',
    }),
    viewSecretValue: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether to decrypt and return the values. Without it no value is read.' })
      .register(DISPLAY_RULES, {}),
  })
  .meta({ description: 'Which secrets to find.' });

/** The same with the page. */
export const SearchSecrets = z.strictObject({ ...boundedPageRules, ...SecretSearch.shape });

/** The keys to search for. */
export function keyMatchOf({ equals, startsWith, glob }: KeyFilter): TextMatch {
  if (equals !== undefined) return matchEqual(equals);
  return startsWith === undefined ? matchGlob(glob as string) : matchPrefix(startsWith);
}

const NOT_ONE = { error: 'must have exactly one of secret and folder', params: { code: 'NOT_ONE' } };

/** A secret to look up. */
export const UsedSecret = z
  .strictObject({
    ...secretLocation,
    secretKey: secretKey.meta({ description: 'Key of the secret, for example `DB_PASSWORD`.' }),
  })
  .meta({ description: 'A secret, by location and key.' });

/** A folder to look up. */
export const UsedFolder = z
  .strictObject({
    projectId: secretLocation.projectId,
    environment: secretLocation.environment,
    path: folderPath.meta({ description: 'Full path of the folder, for example `/payments/eu`.' }),
  })
  .meta({ description: 'A folder, by location.' });

/** Input of `whereUsed`: a secret or a folder. */
export const UsedItem = z
  .strictObject({
    secret: UsedSecret.optional().meta({ description: 'The secret to look up.' }),
    folder: UsedFolder.optional().meta({ description: 'The folder to look up, with every secret in it.' }),
  })
  .meta({ description: 'The secret or the folder.' });

/** The same with the page. */
export const WhereUsed = z
  .strictObject({ ...boundedPageRules, ...UsedItem.shape })
  .refine(({ secret, folder }) => isOneOf({ secret, folder }), NOT_ONE);

/** How something is used: referenced by the value of a secret, or imported by a folder. */
export type UseKind = 'import' | 'reference';

/** Input of `duplicateValues`. */
export const DuplicateSearch = z
  .strictObject({
    ...where,
    minimum: integer(2, 1_000).default(2).meta({
      description: 'Minimum number of secrets with the same value, 2 to 1,000.',
    }),
  })
  .meta({ description: 'Where to search for equal values, and how many secrets must share one.' });

/** The same with the page. */
export const DuplicateValues = z.strictObject({ ...boundedPageRules, ...DuplicateSearch.shape });

/** Input of `secretsWithValue`. */
export const ValueSearch = z
  .strictObject({
    value: secretValue
      .refine((value) => value !== '', { error: 'must not be empty', params: { code: 'EMPTY_VALUE' } })
      .meta({ description: 'The value, up to 512 KiB of UTF-8 and not empty. It is compared to the byte.' }),
    projectIds: where.projectIds,
    includeFormerVersions: z.boolean().default(false).meta({
      description:
        'Whether to find former versions too, of deleted secrets as well: each version with the value is an item of its own.',
    }),
  })
  .meta({ description: 'The value to find, and where.' });

/** The same with the page. */
export const SecretsWithValue = z.strictObject({ ...boundedPageRules, ...ValueSearch.shape });

const environments = z
  .array(secretLocation.environment)
  .min(2)
  .max(5)
  .refine((slugs) => new Set(slugs).size === slugs.length, {
    error: 'must not repeat an environment',
    params: { code: 'DUPLICATE' },
  })
  .meta({
    description: 'Slugs of 2 to 5 different environments of the project, for example `["staging", "prod"]`.',
  });

/** Input of `compareEnvironments`. */
export const EnvironmentComparison = z
  .strictObject({
    projectId: secretLocation.projectId,
    environments,
    secretPath: secretLocation.secretPath.meta({
      description: 'Path of the folder, the same in each environment, for example `/payments`.',
    }),
    recursive: z.boolean().default(false).meta({ description: 'Whether to compare the folders below it too.' }),
    onlyDifferences: z.boolean().default(true).meta({
      description: 'Whether to leave out secrets that have the same value in every environment.',
    }),
  })
  .meta({ description: 'The environments and the folder to compare.' });

/** The same with the page. */
export const CompareEnvironments = z.strictObject({ ...boundedPageRules, ...EnvironmentComparison.shape });

/** Whether an environment has a secret; unknown where the caller could not see it. */
export type Presence = 'present' | 'missing' | 'unknown';

/** A secret of one environment next to those of the others. */
export interface Side {
  readonly presence: Presence;
  /** The same for equal values only; null when there is no value, or none that the caller may compare. */
  readonly fingerprint: string | null;
}

/** Result of one row of a comparison. */
export type ComparisonVerdict = 'missing' | 'different' | 'unknown' | 'equal';

/**
 * Verdict of a row: the first that applies of missing somewhere, different somewhere, not known everywhere, and equal.
 */
export function verdictOf(sides: readonly Side[]): ComparisonVerdict {
  if (sides.some(({ presence }) => presence === 'missing')) return 'missing';
  const known = sides.map(({ fingerprint }) => fingerprint).filter((fingerprint) => fingerprint !== null);
  if (new Set(known).size > 1) return 'different';
  return known.length < sides.length ? 'unknown' : 'equal';
}

/** A number for each different value, from 1 in the order of the sides; null where the value is not known. */
export function valueGroups(sides: readonly Side[]): (number | null)[] {
  const numbers = new Map<string, number>();
  return sides.map(({ fingerprint }) => {
    if (fingerprint === null) return null;
    if (!numbers.has(fingerprint)) numbers.set(fingerprint, numbers.size + 1);
    return numbers.get(fingerprint) as number;
  });
}

/**
 * Texts that a query matches, in database terms: an exact text, or a range that an index finds and a pattern that
 * filters the range. Null fields do not narrow.
 */
export interface TextMatch {
  readonly equals: string | null;
  /** At or after this text, by code points. */
  readonly from: string | null;
  /** Before this text, by code points. */
  readonly below: string | null;
  /** LIKE pattern, with backslash as its escape. */
  readonly like: string | null;
}

const ANY: TextMatch = { equals: null, from: null, below: null, like: null };

/** Exactly this text. */
const matchEqual = (text: string): TextMatch => ({ ...ANY, equals: text });

/** Texts that start with this one. */
export const matchPrefix = (prefix: string): TextMatch =>
  prefix === '' ? ANY : { ...ANY, from: prefix, below: successorOf(prefix) };

/**
 * Texts that match a glob: `*` matches any characters, slashes too, and `?` matches exactly one. There are no other
 * special characters and there is no escape: to match these two literally, use an exact text or a prefix.
 */
export function matchGlob(glob: string): TextMatch {
  const at = glob.search(/[*?]/);
  if (at === -1) return matchEqual(glob);
  const range = matchPrefix(glob.slice(0, at));
  return /^\*+$/.test(glob.slice(at)) ? range : { ...range, like: likePattern(glob) };
}

/** The LIKE pattern that matches the same texts as a glob. */
export const likePattern = (glob: string): string =>
  glob
    .replace(/[\\%_]/g, '\\$&')
    .replace(/\*+/g, '%')
    .replaceAll('?', '_');

const LAST = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 };

/** The first text, by code points, that sorts after all texts with this prefix; null when there is none. */
function successorOf(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  const next = last + 1 === SURROGATES.first ? SURROGATES.after : last + 1;
  return String.fromCodePoint(...points, next);
}
