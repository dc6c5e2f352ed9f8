import type { Connected, Query } from '../../kernel/database/database.js';
import { NO_ID } from '../../kernel/ids.js';
import type { AlertFilter } from '../alerts/public.js';
import { listSubjects, type Subject } from './due.sql.js';
import { prefilterOf } from './prefilter.rules.js';

/** Where a search goes on: after this certificate, in the order of expiry. */
export type Place = Pick<Subject, 'notAfter' | 'id'>;

const THE_BEGINNING: Place = { notAfter: new Date(0), id: NO_ID };
const UNITS: Readonly<Record<string, string>> = { d: 'days', w: 'weeks', m: 'months', y: 'years' };

/** Certificates of a project that neither are revoked nor have expired. */
export interface Search {
  readonly projectId: string;
  readonly filters: readonly AlertFilter[];
  /** As an `alertBefore`: those that expire within it and are not replaced. Null: all. */
  readonly period: string | null;
  /** Null: from the first one that expires. */
  readonly after: Place | null;
}

/** Filters look at all alternative names of a certificate, of which there may be thousands. */
export const looksAtSans = ({ filters }: Pick<Search, 'filters'>): boolean =>
  filters.some(({ field }) => field === 'san');

/**
 * The next slice of each search, in one statement. It may have certificates that the filters let not pass: `passing` decides.
 *
 * @param most how many certificates of each
 */
export async function listSlices(
  from: Connected | Query,
  searches: readonly Search[],
  most: number,
): Promise<readonly (readonly Subject[])[]> {
  const given = searches.map((search, place) => {
    const { notAfter: afterTime, id: afterId } = search.after ?? THE_BEGINNING;
    const { projectId, period, filters } = search;
    const within = period === null ? null : `${period.slice(0, -1)} ${UNITS[period.slice(-1)]}`;
    return { place, projectId, within, ...prefilterOf(filters), afterTime, afterId, withSans: looksAtSans(search) };
  });
  const rows = await listSubjects(from, { searches: JSON.stringify(given), most });
  const slices = Map.groupBy(rows, ({ place }) => place);
  return searches.map((_, place) => slices.get(place) ?? []);
}
