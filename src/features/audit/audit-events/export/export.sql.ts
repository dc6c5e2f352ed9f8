// Pages of the trail by bytes, through an index that has no other columns.
import { rowsOf, withinBytes } from '../../../../kernel/audit/audit-rows.sql.js';
import { type RowFrom, sqlVariants, t } from '../../../../kernel/database/statement.js';
import { columnsWith, EVENT_ROW } from '../event.sql.js';

/**
 * Settled events of an organization, oldest first, as many of the first `limit` as have so many bytes; each with what it was recorded with:
 * nothing is derived or looked up, so that its line is the same for ever. Those of one project are read by its index, which does not have
 * the organization. All events of a project are of one organization, so that those of others leave nothing.
 */
export const exportEvents = sqlVariants({
  options: { owner: ['organization', 'project'] },
  text: ({ owner }) => `
    select r.found, ${columnsWith('r.facts')} from (${withinBytes(`
      select r.* from ${rowsOf(`
        select own.sequence, own.expires_on from audit_record own
        where own.${owner}_id = :${owner}Id and own.sequence > :after and own.sequence <= :settled
        order by own.sequence limit :limit`)}
      where r.organization_id = :organizationId order by looked.sequence`)}) r
    order by r.sequence`,
  params: {
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    after: t.bigint,
    settled: t.bigint,
    limit: t.bigint,
    bytes: t.bigint,
  },
  row: { found: t.integer, ...EVENT_ROW },
});

/** An event as it is exported. */
export type ExportedRow = RowFrom<typeof exportEvents>;
