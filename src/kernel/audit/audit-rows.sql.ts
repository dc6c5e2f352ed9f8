/** SQL for when a row may be dropped, `2027-01-01`, whatever the settings of the session are; null: never. */
export const EXPIRES_ON = `case when isfinite(expires_on) then to_char(expires_on, 'YYYY-MM-DD') end as "expiresOn"`;

/**
 * The rows of some numbers of the trail as `r`, one by one in the order of the numbers: whoever stops early has read no more. Postgres finds
 * the numbers in an index alone, and has no reason to look for rows in the whole trail; each row is looked for in its own partition, and not
 * in every one.
 *
 * @param numbers a query for `sequence` and `expires_on`, whose result is called `looked`
 */
export const rowsOf = (numbers: string): string => `(${numbers}) looked cross join lateral (
  select found.* from audit_record found where found.sequence = looked.sequence and found.expires_on = looked.expires_on offset 0) r`;

/**
 * The first of some rows of the trail, as far as their facts have `:bytes` as they are stored, and at least one; each with `found`, the
 * number of all of them. A row says little or a lot: whoever reads many at a time bounds both.
 *
 * @param rows a query of whole rows, with a limit, whose other columns and parameters stay as they are
 */
export const withinBytes = (rows: string): string => `
  select sized.* from (
    select own.*, (count(*) over ())::integer as found,
      sum(pg_column_size(own.facts)) over (order by own.sequence) - pg_column_size(own.facts) as bytes_before
    from (${rows}) own
  ) sized where sized.bytes_before < :bytes`;
