import type { AlertFilter } from '../alerts/public.js';

type Field = 'common_name' | 'profile_name' | 'san';

/** What a database can leave out of filters by itself. Patterns are of LIKE. */
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
 * The part of filters that leaves out most certificates before they are read. Whatever passes is looked at again by `matchesFilters`, which
 * decides: this one may let pass too much, and never too little. So it knows no values beyond ASCII, where a database and a program
 * may differ about the case of letters.
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
