import type { AlertFilter } from '../alerts/public.js';

type Field = 'common_name' | 'profile_name' | 'san';

/** The conditions of filters that the database can evaluate. Patterns are those of LIKE. */
export interface Prefilter {
  readonly includeCas: boolean;
  readonly commonNameEquals: readonly string[];
  readonly commonNameLike: readonly string[];
  readonly profileEquals: readonly string[];
  readonly profileLike: readonly string[];
  readonly sanEquals: readonly string[];
  readonly sanLike: readonly string[];
}

const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
const PATTERNS: Readonly<Record<string, (value: string) => string>> = {
  contains: (value) => `%${literal(value)}%`,
  starts_with: (value) => `${literal(value)}%`,
  ends_with: (value) => `%${literal(value)}`,
};

/**
 * The conditions that exclude most certificates before they are read. `matchesFilters` decides on the rest, so the prefilter may let too
 * many pass but never too few. It skips non-ASCII values, because Postgres and Node may disagree on their case folding.
 */
export function prefilterOf(filters: readonly AlertFilter[]): Prefilter {
  const equal = (field: Field): string[] =>
    filters.filter((filter) => filter.field === field && filter.operator === 'equals').map(({ value }) => value);
  const like = (field: Field): string[] =>
    filters.flatMap(({ field: looked, operator, value }) => {
      const pattern = PATTERNS[operator];
      return looked === field && pattern !== undefined && /^[\x20-\x7e]*$/.test(value) ? [pattern(value)] : [];
    });
  return {
    includeCas: filters.some(({ field, value }) => field === 'include_cas' && value === 'true'),
    commonNameEquals: equal('common_name'),
    commonNameLike: like('common_name'),
    profileEquals: equal('profile_name'),
    profileLike: like('profile_name'),
    sanEquals: equal('san'),
    sanLike: like('san'),
  };
}
