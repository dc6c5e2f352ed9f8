import { nextTurn } from '../../../kernel/event-loop.js';
import { type AlertFilter, type FilteredCertificate, matchesFilters } from '../alerts/public.js';

/** The certificates that match all filters. Matching 50 globs against thousands of names takes a while, so it yields to the event loop. */
export async function passing<C extends FilteredCertificate>(
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
