import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { OrganizationSchema } from '../../../identity/organizations/public.js';

const tables = tablesOf<typeof OrganizationSchema>();

/** One checkpoint of an organization is made at a time. Any number will do that no other lock has. */
export const lockCheckpoints = prepared(({ organizationId }: { organizationId: string }) =>
  tables.selectNoFrom(
    sql<string>`pg_advisory_xact_lock(7266003, hashtext((${organizationId}::uuid)::text))::text`.as('lock'),
  ),
);

/** The clock of the database: the transaction began before it had the lock, perhaps before the last checkpoint was made. */
export const findClock = prepared(() => tables.selectNoFrom(sql<Date>`clock_timestamp()::timestamptz(3)`.as('now')));

/** Organizations with settled events that no checkpoint covers, apart from those of making checkpoints. */
export const listUncovered = prepared(({ settled }: { settled: string }) =>
  tables
    .selectFrom('organization as o')
    .select('o.id')
    .where(
      sql<boolean>`exists (
        select from audit_record r
        where r.organization_id = o.id and r.sequence <= ${settled} and r.action <> 'audit-checkpoint:create' and r.sequence > coalesce((
          select c.last_sequence from audit_checkpoint c where c.organization_id = o.id order by c.number desc limit 1),
          '-9223372036854775808'))`,
    )
    .orderBy('o.id'),
);
