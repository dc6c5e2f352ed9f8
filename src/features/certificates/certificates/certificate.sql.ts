// Lists of many projects at once: a lateral page of each, and filters that share one text.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Filters of a list. Times are strings, so that lists of one document with equal filters share a statement. */
const FILTERS = {
  projectIds: t.array(t.uuid),
  openIds: t.array(t.uuid),
  allowed: t.array(t.text),
  search: t.nullable(t.text),
  serial: t.nullable(t.text),
  status: t.nullable(t.text),
  expiresBefore: t.nullable(t.text),
  expiresAfter: t.nullable(t.text),
  authorityId: t.nullable(t.uuid),
  profileSlug: t.nullable(t.text),
  metadata: t.nullable(t.text),
} as const;

/** The search string has no wildcards. `allowed` contains names prefixed with their project, for restricted projects. */
const IS_AMONG = `(project_id = any(:openIds::uuid[]) or project_id::text || common_name = any(:allowed::text[]))
  and (:search::text is null or position(lower(:search::text) in lower(common_name)) > 0 or serial_number = :serial::text
    or exists (select from unnest(sans) as san where position(lower(:search::text) in lower(san)) > 0))
  and (:status::text is null or status = :status::text)
  and (:expiresBefore::text is null or not_after < :expiresBefore::text::timestamptz)
  and (:expiresAfter::text is null or not_after >= :expiresAfter::text::timestamptz)
  and (:authorityId::uuid is null or authority_id = :authorityId::uuid)
  and (:profileSlug::text is null or profile_slug = :profileSlug::text)
  and (:metadata::text is null or metadata @> :metadata::text::jsonb)`;

/** IDs of one page of certificates per project, soonest expiration first. */
export const listCertificateIds = sqlStatement({
  text: `select found.project_id as "projectId", found.id
    from unnest(:projectIds::uuid[]) as wanted (id) cross join lateral (
      select project_id, id, not_after from certificate
      where project_id = wanted.id and ${IS_AMONG}
        and (:time::text is null or (not_after, id) > (:time::text::timestamptz, :afterId::uuid))
      order by not_after, id limit :limit::integer) found
    order by found.not_after, found.id`,
  params: { ...FILTERS, time: t.nullable(t.text), afterId: t.nullable(t.uuid), limit: t.nullable(t.integer) },
  row: { projectId: t.uuid, id: t.uuid },
});

/** Number of certificates per project; no row for projects without any. */
export const countCertificates = sqlStatement({
  text: `select project_id as "projectId", count(*)::integer as count from certificate
    where project_id = any(:projectIds::uuid[]) and ${IS_AMONG} group by project_id`,
  params: FILTERS,
  row: { projectId: t.uuid, count: t.integer },
});
