import * as z from 'zod';
import { boundedPageRules, OF_DISPLAY } from '../../../kernel/paging.js';
import { anyId } from '../../../kernel/text-rules.js';
import { matchEqual, matchGlob, matchPrefix, type TextMatch } from '../scope/glob.rules.js';
import { metadataPairs } from '../scope/metadata-filter.rules.js';
import { place } from '../scope/place.rules.js';
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
export function isOneOf(input: object): boolean {
  return Object.values(input).filter((value) => value !== undefined).length === 1;
}

/** Projects and environments to search. Absent: all that the caller may read in. */
export const where = {
  projectIds: z.array(anyId).min(1).max(MAX_PROJECTS).nullish().meta({
    description: 'Only these projects, at most 1,000. All projects that you are a member of when absent.',
  }),
  environments: z.array(place.environment).min(1).max(MAX_WORDS).nullish().meta({
    description: 'Only environments with these slugs, at most 100.',
  }),
};

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
    viewSecretValue: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether to decrypt and return the values. Without it no value is read.' })
      .register(OF_DISPLAY, {}),
  })
  .meta({ description: 'Which secrets to find.' });

/** The same with the page. */
export const SearchSecrets = z.strictObject({ ...boundedPageRules, ...SecretSearch.shape });

/** The keys to search for. */
export function keyMatchOf({ equals, startsWith, glob }: KeyFilter): TextMatch {
  if (equals !== undefined) return matchEqual(equals);
  return startsWith === undefined ? matchGlob(glob as string) : matchPrefix(startsWith);
}
