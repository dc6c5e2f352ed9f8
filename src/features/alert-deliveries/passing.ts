import { nextTurn } from '../../kernel/slices.js';
import { type AlertFilter, type FilteredCertificate, matchesFilters } from '../alerts/public.js';

/** The certificates that pass all filters. Fifty globs and thousands of names take a while: other work goes on in between. */
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
