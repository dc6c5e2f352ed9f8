import * as z from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { place } from '../scope/place.rules.js';

const environments = z
  .array(place.environment)
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
    projectId: place.projectId,
    environments,
    secretPath: place.secretPath.meta({
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
export type Verdict = 'missing' | 'different' | 'unknown' | 'equal';

/**
 * Verdict of a row: the first that applies of missing somewhere, different somewhere, not known everywhere, and equal.
 */
export function verdictOf(sides: readonly Side[]): Verdict {
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
