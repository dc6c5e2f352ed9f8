// A lock of the session, the clock, and organizations by what they have in two other tables.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** One checkpoint of an organization is made at a time. Any number will do that no other lock has. */
export const LOCK_CHECKPOINTS = sqlStatement({
  text: `select pg_advisory_xact_lock(7266003, hashtext((:organizationId::uuid)::text))::text as lock`,
  params: { organizationId: t.uuid },
  row: { lock: t.text },
});

/** The clock of the database. */
export const NOW = sqlStatement({
  text: `select clock_timestamp()::timestamptz(3) as now`,
  params: {},
  row: { now: t.time },
});

/** Organizations with settled events that no checkpoint covers, apart from those of making checkpoints. */
export const LIST_UNCOVERED = sqlStatement({
  text: `
    select o.id from organization o
    where exists (
      select from audit_record r
      where r.organization_id = o.id and r.sequence <= :settled and r.action <> 'audit-checkpoint:create' and r.sequence > coalesce((
        select c.last_sequence from audit_checkpoint c where c.organization_id = o.id order by c.number desc limit 1),
        '-9223372036854775808'))
    order by o.id`,
  params: { settled: t.bigint },
  row: { id: t.uuid },
});
