import type { Connected, Query } from '../../../kernel/database/database.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { AlertFilter } from '../alerts/public.js';
import { listSubjects, type Subject } from './due.sql.js';
import { prefilterOf } from './prefilter.rules.js';

/** A position in the order of expiration: after this certificate. */
export type Place = Pick<Subject, 'notAfter' | 'id'>;

const THE_BEGINNING: Place = { notAfter: new Date(0), id: NO_ID };
const UNITS: Readonly<Record<string, string>> = { d: 'days', w: 'weeks', m: 'months', y: 'years' };

/** A search for certificates of a project that are neither revoked nor expired. */
export interface Search {
  readonly projectId: string;
  readonly filters: readonly AlertFilter[];
  /** Period, in the format of `alertBefore`: only certificates that expire within it and are not superseded. Null: all. */
  readonly period: string | null;
  /** Null: from the start. */
  readonly after: Place | null;
}

/** Whether filters need all alternative names of a certificate, of which there may be thousands. */
export const looksAtSans = ({ filters }: Pick<Search, 'filters'>): boolean =>
  filters.some(({ field }) => field === 'san');

/**
 * Reads the next certificates of each search in one statement. They may include some that do not match the filters: `matchingCertificates` decides.
 *
 * @param most maximum number of certificates per search
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
