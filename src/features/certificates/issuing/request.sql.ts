import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { REQUEST_KINDS, REQUEST_STATES, type RequestFault } from './request.entity.js';

const COLUMNS = `r.id, r.organization_id as "organizationId", r.project_id as "projectId", r.kind, r.state,
  r.is_automatic as "isAutomatic", r.actor_kind as "actorKind", r.actor_id as "actorId", r.profile_slug as "profileSlug",
  r.common_name as "commonName", r.certificate_id as "certificateId", r.issued_certificate_id as "issuedCertificateId",
  r.error_code as "errorCode", r.faults, r.created_at as "createdAt", r.ended_at as "endedAt"`;

const ROW = {
  id: t.uuid,
  organizationId: t.uuid,
  projectId: t.uuid,
  kind: t.oneOf(...REQUEST_KINDS),
  state: t.oneOf(...REQUEST_STATES),
  isAutomatic: t.boolean,
  actorKind: t.text,
  actorId: t.uuid,
  profileSlug: t.nullable(t.text),
  commonName: t.text,
  certificateId: t.nullable(t.uuid),
  issuedCertificateId: t.nullable(t.uuid),
  errorCode: t.nullable(t.text),
  faults: t.jsonOf<readonly RequestFault[]>(),
  createdAt: t.time,
  endedAt: t.nullable(t.time),
} as const;

/** The UTC day of the database. */
const TODAY = `to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as day`;

/** Requests by ID, in any project. */
export const findRequests = sqlStatement({
  text: `select ${COLUMNS} from certificate_request r where r.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: ROW,
});

/** A request as read from the database. */
export type RequestRow = Awaited<ReturnType<typeof findRequests>>[number];

/** One page of the requests of a project, newest first. Without `isOpen`, only those with one of the names. */
export const listRequests = sqlStatement({
  text: `select ${COLUMNS} from certificate_request r
    where r.project_id = :projectId and (:isOpen or r.common_name = any(:names::text[]))
      and (:state::text is null or r.state = :state) and (:kind::text is null or r.kind = :kind)
      and (:certificateId::uuid is null or r.certificate_id = :certificateId or r.issued_certificate_id = :certificateId)
      and (:time::text is null or (r.created_at, r.id) < (:time::text::timestamptz, :afterId::uuid))
    order by r.created_at desc, r.id desc limit :limit::integer`,
  params: {
    projectId: t.uuid,
    isOpen: t.boolean,
    names: t.array(t.text),
    state: t.nullable(t.text),
    kind: t.nullable(t.text),
    certificateId: t.nullable(t.uuid),
    time: t.nullable(t.text),
    afterId: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: ROW,
});

/** All common names in the requests of a project, to evaluate conditions of rules. */
export const listRequestedNames = sqlStatement({
  text: `select distinct common_name as "commonName" from certificate_request where project_id = :projectId`,
  params: { projectId: t.uuid },
  row: { commonName: t.text },
});

/** Stores a finished request. @returns the day */
export const insertRequest = sqlStatement({
  text: `insert into certificate_request (id, organization_id, project_id, kind, state, is_automatic, actor_kind, actor_id, profile_slug,
      common_name, certificate_id, issued_certificate_id, error_code, faults, ended_at)
    values (:id, :organizationId, :projectId, :kind, :state, false, :actorKind, :actorId, :profileSlug, :commonName, :certificateId,
      :issuedCertificateId, :errorCode, :faults::text::jsonb, now())
    returning ${TODAY}`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    kind: t.text,
    state: t.text,
    actorKind: t.text,
    actorId: t.uuid,
    profileSlug: t.nullable(t.text),
    commonName: t.text,
    certificateId: t.nullable(t.uuid),
    issuedCertificateId: t.nullable(t.uuid),
    errorCode: t.nullable(t.text),
    faults: t.text,
  },
  row: { day: t.text },
});

/** Locks a pending automatic request until the transaction ends. */
export const holdPending = sqlStatement({
  text: `select ${COLUMNS} from certificate_request r where r.id = :id and r.state = 'pending' for update`,
  params: { id: t.uuid },
  row: ROW,
});

/** Finishes a pending request. @returns the day */
export const endRequest = sqlStatement({
  text: `update certificate_request set state = :state, issued_certificate_id = :issuedCertificateId, error_code = :errorCode,
      faults = :faults::text::jsonb, ended_at = now(), updated_at = now()
    where id = :id and state = 'pending' returning ${TODAY}`,
  params: {
    id: t.uuid,
    state: t.text,
    issuedCertificateId: t.nullable(t.uuid),
    errorCode: t.nullable(t.text),
    faults: t.text,
  },
  row: { day: t.text },
});

/** Removes an obsolete request: its certificate was renewed, revoked or has expired. */
export const dropPending = sqlStatement({
  text: `delete from certificate_request where id = :id and state = 'pending' returning id`,
  params: { id: t.uuid },
  row: { id: t.uuid },
});

/** Removes old finished requests, and pending ones that nobody works on any more. */
export const deleteOldRequests = sqlStatement({
  text: `with old as (
      select id from certificate_request
      where ended_at < now() - make_interval(days => :keptDays::integer)
        or state = 'pending' and created_at < now() - interval '1 day'
      limit 1000
    ), gone as (
      delete from certificate_request r using old where r.id = old.id returning r.id, r.project_id
    ), changed as (
      -- Replies that show them are not repeated.
      update project set revision = revision + 1 from (select distinct project_id from gone) g where project.id = g.project_id
    )
    select id from gone`,
  params: { keptDays: t.integer },
  row: { id: t.uuid },
});
