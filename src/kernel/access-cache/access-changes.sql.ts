// Snapshots of the server, and a change in front of another.
import { sqlStatement, sqlVariants, t } from '../database/statement.js';

/**
 * Whether something of what callers may do was changed since a snapshot, and a snapshot of this moment. A transaction that was running
 * at that snapshot and has committed since counts. With the revisions of some projects; without any it does not wait for who locks all
 * of them. `server` differs after a restart or a failover.
 */
export const readChanges = sqlVariants({
  options: { hasProjects: [false, true] },
  text: ({ hasProjects }) => `select pg_current_snapshot()::text as snapshot, extract(epoch from now())::float8 as now,
      pg_postmaster_start_time()::text as server,
      exists (select from access_change c
        where c.transaction >= pg_snapshot_xmin(:since::text::pg_snapshot)
          and not pg_visible_in_snapshot(c.transaction, :since::text::pg_snapshot)) as "isChanged",
      ${hasProjects ? REVISIONS : 'null::json'} as revisions`,
  params: { since: t.nullable(t.text), projectIds: t.array(t.uuid) },
  row: {
    snapshot: t.text,
    now: t.double,
    server: t.text,
    isChanged: t.boolean,
    revisions: t.nullable(t.builtJsonOf<Readonly<Record<string, number>>>()),
  },
});
const REVISIONS = '(select json_object_agg(p.id, p.revision) from project p where p.id = any(:projectIds::uuid[]))';

/**
 * Replaces the marks of all changes by one of its own: a snapshot of before does not have that one. Marks that were copied from another
 * server go too, whose numbers are still to come here.
 */
export const replaceMarks = sqlStatement({
  text: 'with gone as (delete from access_change) insert into access_change default values',
  params: {},
  row: {},
});
