// Parts of statements: how many bytes of values a response reads.
import { EMPTY_RECORD_BYTES } from '../../../kernel/crypto/seal.js';
import { MAX_RESPONSE_BYTES } from '../../../kernel/load/load.js';

/** Where sizes of values are summed: in a window, or over all rows of a list, from its `from` on. */
export type Summed = { readonly window: string } | { readonly rows: string };

/** True if a sum of their lengths fits into a response. */
export const fits = (sum: string): string => `${sum} <= ${MAX_RESPONSE_BYTES}`;

/** The lengths of values, which are known without reading them. */
export const lengthOf = (sealed: string): string => `octet_length(${sealed}) - ${EMPTY_RECORD_BYTES}`;

/**
 * The sealed values of secrets `s`, or of personal ones `ps`. Those past the limit of a response are null: their lengths are known
 * without reading them.
 *
 * @param summed absent: there are few
 * @param withOwn personal values are read as well, and count
 */
export function valueColumn(table: 's' | 'ps', summed: Summed | undefined, withOwn: boolean): string {
  const value = `${table}.value_sealed`;
  if (summed === undefined) return value;
  const ofOwn = withOwn ? ` + coalesce(${lengthOf('ps.value_sealed')}, 0)` : '';
  const sum = `sum(${lengthOf('s.value_sealed')}${ofOwn})`;
  // Of a whole list all values or none: a larger list is rejected anyway, and nothing is read for it.
  const total = 'rows' in summed ? `(select ${sum} ${summed.rows})` : `${sum} over ${summed.window}`;
  return `case when ${fits(total)} then ${value} end`;
}
