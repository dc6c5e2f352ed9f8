// The state of a verification is that of its job: a join of a slice and the kernel; and a lock, and all but the newest.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import type { Verdict } from './verdict.js';
import { VERIFICATION_STATES } from './verification.rules.js';

/** The job says how far it is; its row is deleted in time. */
const COLUMNS = `v.id, v.organization_id as "organizationId", v.job_id as "jobId", v.anchors, v.created_at as "createdAt",
  v.row_count as "rowCount", v.checked_count as "checkedCount", v.finished_at as "finishedAt", v.verdict,
  case when v.finished_at is not null then 'finished' when j.state in ('waiting', 'running') then j.state else 'stopped' end as state`;

const FROM = 'audit_verification v left join job j on j.id = v.job_id';

const ROW = {
  id: t.uuid,
  organizationId: t.uuid,
  jobId: t.uuid,
  anchors: t.array(t.text),
  createdAt: t.time,
  rowCount: t.nullable(t.bigint),
  checkedCount: t.bigint,
  finishedAt: t.nullable(t.time),
  verdict: t.nullable(t.jsonOf<Verdict>()),
  state: t.oneOf(...VERIFICATION_STATES),
} as const;

/** One verification begins at a time. Any number will do that no other lock has. */
export const LOCK_VERIFICATIONS = sqlStatement({
  text: `select pg_advisory_xact_lock(7266005)::text as lock`,
  params: {},
  row: { lock: t.text },
});

/** The verification that waits or runs. */
export const FIND_OPEN = sqlStatement({
  text: `
    select ${COLUMNS} from ${FROM}
    where v.organization_id = :organizationId and v.finished_at is null and j.state in ('waiting', 'running')
    order by v.created_at desc limit 1`,
  params: { organizationId: t.uuid },
  row: ROW,
});

/** A verification as it is read. */
export type VerificationRow = Awaited<ReturnType<typeof FIND_OPEN>>[number];

/** Forgets all but the newest of an organization. */
export const FORGET_OLD = sqlStatement({
  text: `
    delete from audit_verification where organization_id = :organizationId and id <> all(array(
      select v.id from audit_verification v where v.organization_id = :organizationId order by v.created_at desc, v.id desc limit :kept))
    returning id`,
  params: { organizationId: t.uuid, kept: t.bigint },
  row: { id: t.uuid },
});

/** Verifications by their ids, in no order. */
export const FIND_VERIFICATIONS = sqlStatement({
  text: `select ${COLUMNS} from ${FROM} where v.id = any(:ids) and v.organization_id = :organizationId`,
  params: { ids: t.array(t.uuid), organizationId: t.uuid },
  row: ROW,
});

/** Verifications, newest first. */
export const LIST_VERIFICATIONS = sqlStatement({
  text: `
    select ${COLUMNS} from ${FROM}
    where v.organization_id = :organizationId
      and (v.created_at, v.id) < (
        (select coalesce(:time::text, 'infinity')::timestamptz), (select coalesce(:id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')))
    order by v.created_at desc, v.id desc limit :limit`,
  params: { organizationId: t.uuid, time: t.nullable(t.text), id: t.nullable(t.uuid), limit: t.nullable(t.bigint) },
  row: ROW,
});
