import * as z from 'zod';
import { compileGlob } from '../../../kernel/authz/glob.js';
import { storedText } from '../../../kernel/text-rules.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';

/** Certificate properties that filters compare. */
export const FILTER_FIELDS = ['profile_name', 'common_name', 'san', 'include_cas'] as const;
/** Comparison operators of filters. */
export const FILTER_OPERATORS = ['equals', 'not_equals', 'contains', 'starts_with', 'ends_with', 'matches'] as const;

type FilterOperator = (typeof FILTER_OPERATORS)[number];

export const filterField = z.enum(FILTER_FIELDS);
export const filterOperator = z.enum(FILTER_OPERATORS);

/** Glob patterns like those in role rules, but case-insensitive. */
const patternOf = (value: string) => compileGlob(value.toLowerCase());

/** One filter of an alert. Field, operator and value are validated together. */
export const Filter = z
  .strictObject({
    field: filterField.meta({ description: 'Certificate property to compare.' }),
    operator: filterOperator.meta({ description: 'Comparison operator. `include_cas` allows only `equals`.' }),
    value: storedText(255).min(1).meta({
      description:
        'Value to compare with, 1 to 255 characters. A glob pattern for `matches`; `true` or `false` for `include_cas`.',
    }),
  })
  // Runs on invalid input too: any field may be missing or of any type.
  .superRefine(({ field, operator, value }: Readonly<Record<string, unknown>>, issues) => {
    const refuse = (key: string, message: string, code: string): void =>
      issues.addIssue({ code: 'custom', path: [key], message, params: { code } });
    if (field === 'include_cas') {
      if ((FILTER_OPERATORS as readonly unknown[]).includes(operator) && operator !== 'equals')
        refuse('operator', 'must be equals', 'INVALID_VALUE');
      if (typeof value === 'string' && value !== '' && value !== 'true' && value !== 'false')
        refuse('value', 'must be true or false', 'INVALID_VALUE');
    } else if (operator === 'matches' && typeof value === 'string' && value.length > 0 && value.length <= 255) {
      const pattern = patternOf(value);
      if (typeof pattern === 'string') refuse('value', pattern, 'INVALID');
    }
  }, EVEN_IF_INVALID)
  .meta({ description: 'A filter on certificates.' });
export type AlertFilter = z.output<typeof Filter>;

/** The properties of a certificate that filters compare. */
export interface FilteredCertificate {
  /** Null if the certificate was issued without a profile. */
  readonly profileName: string | null;
  readonly commonName: string;
  readonly sans: readonly string[];
  /** Whether it is the certificate of an authority. */
  readonly isCa: boolean;
}

/**
 * Whether a certificate matches all filters. If a certificate has several names, one must match; for `not_equals`, none may be equal.
 * `equals` and `not_equals` are case-sensitive, all other operators case-insensitive. Certificates of authorities match only if a filter
 * includes them and none excludes them.
 */
export function matchesFilters(filters: readonly AlertFilter[], certificate: FilteredCertificate): boolean {
  const includes = filters.filter(({ field }) => field === 'include_cas').map(({ value }) => value === 'true');
  if (certificate.isCa && (includes.length === 0 || includes.includes(false))) return false;
  return filters.every(
    (filter) => filter.field === 'include_cas' || matchesNames(filter, namesOf(filter, certificate)),
  );
}

function namesOf({ field }: AlertFilter, { profileName, commonName, sans }: FilteredCertificate): readonly string[] {
  if (field === 'san') return sans;
  if (field === 'common_name') return [commonName];
  return profileName === null ? [] : [profileName];
}

function matchesNames({ operator, value }: AlertFilter, names: readonly string[]): boolean {
  if (operator === 'not_equals') return !names.includes(value);
  const fits = TESTS[operator](value);
  return names.some(fits);
}

type Test = (name: string) => boolean;

const ignoringCase =
  (compare: (name: string, value: string) => boolean) =>
  (value: string): Test =>
  (name) =>
    compare(name.toLowerCase(), value.toLowerCase());

const TESTS: Readonly<Record<Exclude<FilterOperator, 'not_equals'>, (value: string) => Test>> = {
  equals: (value) => (name) => name === value,
  contains: ignoringCase((name, value) => name.includes(value)),
  starts_with: ignoringCase((name, value) => name.startsWith(value)),
  ends_with: ignoringCase((name, value) => name.endsWith(value)),
  matches: (value) => {
    const pattern = patternOf(value);
    return (name) => typeof pattern === 'function' && pattern(name.toLowerCase());
  },
};
