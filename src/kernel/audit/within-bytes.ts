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
