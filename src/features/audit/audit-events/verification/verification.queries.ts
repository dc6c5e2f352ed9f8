import { sql } from 'kysely';
import { anyOf, columnsIn, pageByNewest, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { JobSchema } from '../../../../kernel/jobs/job.entity.js';
import type { TimeBounds } from '../../../../kernel/paging.js';
import { AuditVerificationSchema } from './verification.entity.js';
import type { VerificationState } from './verification.rules.js';

interface Owned {
  readonly organizationId: string;
}

const tables = tablesOf<typeof AuditVerificationSchema | typeof JobSchema>();

/** The job says how far it is; its row is deleted in time. */
const verifications = tables
  .selectFrom('audit_verification as v')
  .leftJoin('job as j', 'j.id', 'v.job_id')
  .select(columnsIn('v', AuditVerificationSchema))
  .select(
    sql<VerificationState>`case when v.finished_at is not null then 'finished'
      when j.state in ('waiting', 'running') then j.state else 'stopped' end`.as('state'),
  );

/** One verification begins at a time. Any number will do that no other lock has. */
export const lockVerifications = prepared(() =>
  tables.selectNoFrom(sql<string>`pg_advisory_xact_lock(7266005)::text`.as('lock')),
);

/** The verification that waits or runs. */
export const findOpen = prepared(({ organizationId }: Owned) =>
  verifications
    .where('v.organization_id', '=', organizationId)
    .where('v.finished_at', 'is', null)
    .where('j.state', 'in', ['waiting', 'running'])
    .orderBy('v.created_at', 'desc')
    .limit(1),
);

/** Verifications by their ids, in no order. */
export const findVerifications = prepared(({ organizationId, ids }: Owned & { ids: readonly string[] }) =>
  verifications.where('v.organization_id', '=', organizationId).where('v.id', '=', anyOf(ids)),
);

/** A verification as it is read. */
export type VerificationRow = Awaited<ReturnType<typeof findVerifications>>[number];

/** Verifications, newest first. */
export const listVerifications = prepared((page: Owned & TimeBounds) =>
  verifications.where('v.organization_id', '=', page.organizationId).$call(pageByNewest('v.created_at', 'v.id', page)),
);

/** Forgets all but the newest of an organization. */
export const deleteOldVerifications = prepared(({ organizationId, kept }: Owned & { kept: number }) =>
  tables
    .deleteFrom('audit_verification')
    .where('organization_id', '=', organizationId)
    .where('id', 'not in', (own) =>
      own
        .selectFrom('audit_verification as v')
        .select('v.id')
        .where('v.organization_id', '=', organizationId)
        .orderBy('v.created_at', 'desc')
        .orderBy('v.id')
        .limit(kept),
    ),
);
