import { sql } from 'kysely';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import { CLOCK, lagOf } from '../engine/target.sql.js';
import { AuditSinkSchema } from './sink.entity.js';

const sinks = tablesOf<typeof AuditSinkSchema>()
  .selectFrom('audit_sink as x')
  .select(columnsIn('x', AuditSinkSchema))
  .select([sql<null>`null::uuid`.as('projectId'), ...CLOCK]);
const shown = sinks.crossJoinLateral(lagOf('audit_sink')).select(['lagRecords', 'lagSeconds']);

/** Sinks by ID, in any organization, for their jobs. */
export const findSinkTargets = prepared(({ ids }: { ids: readonly string[] }) => sinks.where('x.id', '=', anyOf(ids)));

/** Sinks of an organization by ID. */
export const findSinks = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  shown.where('x.organization_id', '=', organizationId).where('x.id', '=', anyOf(ids)),
);

/** Sinks of an organization, by name. */
export const listSinks = prepared(({ organizationId }: { organizationId: string }) =>
  shown.where('x.organization_id', '=', organizationId).orderBy(sql`x.name collate "C"`).orderBy('x.id'),
);

/** A sink as its job reads it. */
export type SinkTarget = Awaited<ReturnType<typeof findSinkTargets>>[number];

/** A sink as the API shows it. */
export type SinkRow = Awaited<ReturnType<typeof findSinks>>[number];
