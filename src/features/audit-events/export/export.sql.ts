// Pages of the trail by bytes, through an index that has no other columns.
import { AUDIT_CLASSES } from '../../../kernel/audit/audit-class.js';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { rowsOf, withinBytes } from '../../../kernel/audit/audit-rows.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** A row with what it was recorded with. Nothing is derived or looked up: its line is the same for ever. */
const EXPORTED = `r.sequence, r.found, r.id, r.organization_id as "organizationId", r.project_id as "projectId", r.occurred_at as "occurredAt",
  r.class, r.action, r.subject_id as "subjectId", r.outcome, r.actor_kind as "actorKind", r.actor_id as "actorId",
  r.token_id as "tokenId", r.request_id as "requestId", host(r.address) as address, r.user_agent as "userAgent", r.facts,
  encode(r.disclosed, 'hex') as disclosed`;

const ROW = {
  sequence: t.bigint,
  found: t.integer,
  id: t.uuid,
  organizationId: t.uuid,
  projectId: t.nullable(t.uuid),
  occurredAt: t.time,
  class: t.nullable(t.oneOf(...AUDIT_CLASSES)),
  action: t.text,
  subjectId: t.nullable(t.uuid),
  outcome: t.text,
  actorKind: t.text,
  actorId: t.uuid,
  tokenId: t.nullable(t.uuid),
  requestId: t.uuid,
  address: t.nullable(t.text),
  userAgent: t.nullable(t.text),
  facts: t.jsonOf<AuditFacts>(),
  disclosed: t.nullable(t.text),
} as const;

const BOUNDS = {
  organizationId: t.uuid,
  after: t.bigint,
  settled: t.bigint,
  limit: t.bigint,
  bytes: t.bigint,
} as const;

/** Settled events of an organization, oldest first, as many of the first `limit` as have so many bytes. */
export const EXPORT_ALL = sqlStatement({
  text: `
    select ${EXPORTED} from (${withinBytes(`
      select r.* from ${rowsOf(`
        select own.sequence, own.expires_on from audit_record own
        where own.organization_id = :organizationId and own.sequence > :after and own.sequence <= :settled
        order by own.sequence limit :limit`)}
      order by looked.sequence`)}) r
    order by r.sequence`,
  params: BOUNDS,
  row: ROW,
});

/**
 * The same of one project: by its index, which does not have the organization. All events of a project are of one organization, so that
 * those of others leave nothing.
 */
export const EXPORT_PROJECT = sqlStatement({
  text: `
    select ${EXPORTED} from (${withinBytes(`
      select r.* from ${rowsOf(`
        select own.sequence, own.expires_on from audit_record own
        where own.project_id = :projectId and own.sequence > :after and own.sequence <= :settled
        order by own.sequence limit :limit`)}
      where r.organization_id = :organizationId order by looked.sequence`)}) r
    order by r.sequence`,
  params: { ...BOUNDS, projectId: t.uuid },
  row: ROW,
});

/** An event as it is exported. */
export type ExportedRow = Awaited<ReturnType<typeof EXPORT_ALL>>[number];

/** Lists of disclosed secrets, whole. */
export const EXPORT_LISTS = sqlStatement({
  text: `
    select encode(d.digest, 'hex') as digest, d.ids from audit_disclosure d
    where d.digest = any(array(select decode(given.digest, 'hex') from unnest(:digests::text[]) as given (digest)))
    order by d.digest`,
  params: { digests: t.array(t.text) },
  row: { digest: t.text, ids: t.array(t.uuid) },
});
