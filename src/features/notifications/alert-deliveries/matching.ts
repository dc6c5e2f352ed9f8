import type { Connected, Query } from '../../../kernel/database/database.js';
import { nextTurn } from '../../../kernel/event-loop.js';
import { NO_ID } from '../../../kernel/ids.js';
import { type AlertFilter, type FilteredCertificate, matchesFilters } from '../alerts/public.js';
import { type AlertState, listSubjects, type Subject } from './alert-delivery.sql.js';

/**
 * The verdict of an alert on a certificate. `due`: it notifies of the expiration now. `no_event`: it will notify once the event occurs.
 * All others are reasons why it does not notify.
 */
export type MatchVerdict =
  | 'due'
  | 'no_event'
  | 'disabled'
  | 'no_channel'
  | 'filtered'
  | 'revoked'
  | 'authority_disabled'
  | 'expired'
  | 'superseded'
  | 'not_due_yet';

/** For `listAlertStates`. */
export const ALL_ALERTS = { time: null, afterId: null, limit: null } as const;

/** The verdicts of alerts on a certificate, in the order of the alerts. The same verdicts decide whether they notify. */
export async function verdictsOf(
  certificate: Subject,
  states: readonly AlertState[],
): Promise<readonly MatchVerdict[]> {
  const verdicts: MatchVerdict[] = [];
  for (const state of states) {
    const isMatch = (await matchingCertificates(state.filters ?? [], [certificate])).length > 0;
    verdicts.push(verdictOf(state, isMatch));
  }
  return verdicts;
}

function verdictOf(state: AlertState, isMatch: boolean): MatchVerdict {
  if (!state.isEnabled) return 'disabled';
  if (!state.hasChannel) return 'no_channel';
  if (!isMatch) return 'filtered';
  if (state.eventType !== 'expiration') return 'no_event';
  if (state.status === 'revoked') return 'revoked';
  if (state.status === 'disabled') return 'authority_disabled';
  if (state.isExpired) return 'expired';
  if (state.isSuperseded) return 'superseded';
  return state.beginsAt === null ? 'due' : 'not_due_yet';
}

/** The certificates that match all filters. Matching 50 globs against thousands of names takes a while, so it yields to the event loop. */
export async function matchingCertificates<C extends FilteredCertificate>(
  filters: readonly AlertFilter[],
  certificates: readonly C[],
): Promise<C[]> {
  const passed: C[] = [];
  for (const certificate of certificates) {
    if (matchesFilters(filters, certificate)) passed.push(certificate);
    await nextTurn();
  }
  return passed;
}

/** A position in the order of expiration: after this certificate. */
export type Position = Pick<Subject, 'notAfter' | 'id'>;

const THE_BEGINNING: Position = { notAfter: new Date(0), id: NO_ID };
const UNITS: Readonly<Record<string, string>> = { d: 'days', w: 'weeks', m: 'months', y: 'years' };

/** A search for certificates of a project that are neither revoked nor expired. */
export interface Search {
  readonly projectId: string;
  readonly filters: readonly AlertFilter[];
  /** Period, in the format of `alertBefore`: only certificates that expire within it and are not superseded. Null: all. */
  readonly period: string | null;
  /** Null: from the start. */
  readonly after: Position | null;
}

/** Whether filters need all alternative names of a certificate, of which there may be thousands. */
export const comparesSans = ({ filters }: Pick<Search, 'filters'>): boolean =>
  filters.some(({ field }) => field === 'san');

/**
 * Reads the next certificates of each search in one statement. They may include some that do not match the filters: `matchingCertificates` decides.
 *
 * @param most maximum number of certificates per search
 */
export async function findCandidates(
  from: Connected | Query,
  searches: readonly Search[],
  most: number,
): Promise<readonly (readonly Subject[])[]> {
  const given = searches.map((search, place) => {
    const { notAfter: afterTime, id: afterId } = search.after ?? THE_BEGINNING;
    const { projectId, period, filters } = search;
    const within = period === null ? null : `${period.slice(0, -1)} ${UNITS[period.slice(-1)]}`;
    return { place, projectId, within, ...prefilterOf(filters), afterTime, afterId, withSans: comparesSans(search) };
  });
  const rows = await listSubjects(from, { searches: JSON.stringify(given), most });
  const slices = Map.groupBy(rows, ({ place }) => place);
  return searches.map((_, place) => slices.get(place) ?? []);
}

type Field = 'common_name' | 'profile_name' | 'san';

/** The conditions of filters that the database can evaluate. Patterns are those of LIKE. */
interface Prefilter {
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
function prefilterOf(filters: readonly AlertFilter[]): Prefilter {
  const equal = (field: Field): string[] =>
    filters.filter((filter) => filter.field === field && filter.operator === 'equals').map(({ value }) => value);
  const like = (field: Field): string[] =>
    filters.flatMap(({ field: compared, operator, value }) => {
      const pattern = PATTERNS[operator];
      return compared === field && pattern !== undefined && /^[\x20-\x7e]*$/.test(value) ? [pattern(value)] : [];
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
