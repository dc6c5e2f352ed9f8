/**
 * The rows of some numbers of the trail as `r`, one by one in the order of the numbers: whoever stops early has read no more. Postgres finds
 * the numbers in an index alone, and has no reason to look for rows in the whole trail; each row is looked for in its own partition, and not
 * in every one.
 *
 * @param numbers a query for `sequence` and `expires_on`, whose result is called `looked`
 */
export const rowsOf = (numbers: string): string => `(${numbers}) looked cross join lateral (
  select found.* from audit_record found where found.sequence = looked.sequence and found.expires_on = looked.expires_on offset 0) r`;
