// The catalog.
import { sqlStatement, t } from '../../database/statement.js';

/**
 * Size of the trail on disk with its indexes, and how many rows it has, both as the last vacuum counted them. From the catalog alone:
 * asking for the real size waits for whoever has locked the trail.
 */
export const measureTrail = sqlStatement({
  text: `
    with part as (
      select c.oid, c.reltoastrelid as toast, c.relname, c.reltuples
      from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'audit_record'::regclass
    ), piece as (
      select oid from part union select toast from part
      union select x.indexrelid from pg_index x join part on x.indrelid in (part.oid, part.toast)
    )
    select (select coalesce(sum(c.relpages::bigint), 0) from pg_class c join piece on piece.oid = c.oid)::double precision
        * current_setting('block_size')::integer as bytes,
      coalesce(sum(greatest(part.reltuples, 0)), 0)::double precision as rows,
      (count(*) filter (where part.relname <> 'audit_record_kept'))::integer as months
    from part`,
  params: {},
  row: { bytes: t.double, rows: t.double, months: t.integer },
});
