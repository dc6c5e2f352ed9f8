/**
 * Values of one response, in bytes. A little more than it may have: these are sealed, and what does not fit is to be refused by
 * what reads them and not by what hides them.
 */
export const MAX_VALUE_BYTES = 80 * 1024 * 1024;

/**
 * The sealed values of secrets `s`, or of personal ones `ps`. Those past the limit of a response are null: their lengths are known
 * without reading them.
 *
 * @param sums the window in which they are added up; absent: there are few
 * @param own personal values are read as well, and count
 */
export function valueColumn(table: 's' | 'ps', sums: string | undefined, own: string | undefined): string {
  const value = `${table}.value_sealed`;
  if (sums === undefined) return value;
  const length = own === undefined ? '' : ' + coalesce(octet_length(ps.value_sealed), 0)';
  return `case when sum(octet_length(s.value_sealed)${length}) over ${sums} <= ${MAX_VALUE_BYTES} then ${value} end`;
}
