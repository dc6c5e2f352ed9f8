import { z } from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { isStorable, NOT_STORABLE } from '../../../kernel/text-rules.js';
import { tagSlug } from '../../tags/public.js';
import { matchEqual, matchGlob, matchPrefix, type TextMatch } from '../scope/glob.rules.js';
import { metadataPairs } from '../scope/metadata-filter.rules.js';
import { place } from '../scope/place.rules.js';

const MAX_PROJECTS = 1_000;
const MAX_WORDS = 100;

const keyText = z.string().min(1).max(255).refine(isStorable, NOT_STORABLE);

/** Filter on keys: exactly one of the three. */
const keyQuestion = z
  .strictObject({ equals: keyText.optional(), startsWith: keyText.optional(), glob: keyText.optional() })
  .refine(isOneOf, { error: 'must have exactly one of equals, startsWith and glob', params: { code: 'NOT_ONE' } });
type KeyQuestion = z.infer<typeof keyQuestion>;

/** True when exactly one field is set. */
export function isOneOf(input: object): boolean {
  return Object.values(input).filter((value) => value !== undefined).length === 1;
}

/** Projects and environments to search. Absent: all that the caller may read in. */
export const where = {
  projectIds: z.array(z.string()).min(1).max(MAX_PROJECTS).nullish(),
  environments: z.array(place.environment).min(1).max(MAX_WORDS).nullish(),
};

/** Arguments of `searchSecrets`. */
export const SearchSecrets = z.strictObject({
  ...boundedPageRules,
  ...where,
  key: keyQuestion.nullish(),
  secretPath: z.string().min(1).max(2_000).refine(isStorable, NOT_STORABLE).nullish(),
  tagSlugs: z.array(tagSlug).max(MAX_WORDS).nullish(),
  metadata: metadataPairs.nullish(),
  viewSecretValue: z.boolean().default(false),
});

/** The keys to search for. */
export function keyMatchOf({ equals, startsWith, glob }: KeyQuestion): TextMatch {
  if (equals !== undefined) return matchEqual(equals);
  return startsWith === undefined ? matchGlob(glob as string) : matchPrefix(startsWith);
}
