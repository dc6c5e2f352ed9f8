import { z } from 'zod';
import { compileGlob } from '../../kernel/authz/glob.js';
import { storedText } from '../../kernel/text-rules.js';
import { EVEN_IF_FAULTY } from '../../kernel/validation.js';

/** What filters look at. Source: decisions 7.3. */
export const FILTER_FIELDS = ['profile_name', 'common_name', 'san', 'include_cas'] as const;
/** How they compare it. */
export const FILTER_OPERATORS = ['equals', 'not_equals', 'contains', 'starts_with', 'ends_with', 'matches'] as const;

type FilterOperator = (typeof FILTER_OPERATORS)[number];

export const filterField = z.enum(FILTER_FIELDS);
export const filterOperator = z.enum(FILTER_OPERATORS);

/** Patterns are of the form of those in rules of roles, whatever the case of letters. */
const patternOf = (value: string) => compileGlob(value.toLowerCase());

/** One filter of an alert. Field, operator and value are checked together. Source: decisions 7.3. */
export const Filter = z
  .strictObject({
    field: filterField.meta({ description: 'What to look at.' }),
    operator: filterOperator.meta({ description: 'How to compare it; with `include_cas` only `equals`.' }),
    value: storedText(255).min(1).meta({
      description:
        'What to compare it with, 1 to 255 characters; with `matches` a glob, with `include_cas` the string `true` or `false`.',
    }),
  })
  // Whatever is in it may be missing or of any type.
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
  }, EVEN_IF_FAULTY)
  .meta({ description: 'A condition on certificates.' });
export type AlertFilter = z.output<typeof Filter>;

/** What filters look at of a certificate. */
export interface FilteredCertificate {
  /** Null where it was made without a profile. */
  readonly profileName: string | null;
  readonly commonName: string;
  readonly sans: readonly string[];
  /** It is the certificate of an authority. */
  readonly isCa: boolean;
}

/**
 * Whether a certificate passes all filters. Of several names of a certificate one has to fit, and none may for `not_equals`. Texts are
 * compared as they are by `equals` and `not_equals`, else whatever the case of letters. Certificates of authorities pass only where a
 * filter includes them and none excludes them.
 *
 * Source: decisions 7.3.
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
