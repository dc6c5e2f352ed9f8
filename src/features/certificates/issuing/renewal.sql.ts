// Intervals between columns, inserts from a select, and deletes that change projects too.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { hasDisabledKey } from '../../projects/public.js';

/**
 * When a renewal that failed is tried again: after a twelfth of the life that the certificate had left, between five minutes and a day.
 * So there are many tries before it expires, however short its life is.
 *
 * @param failedAt an expression for when it failed @param endsAt one for when the certificate expires
 */
export const renewalRetryAt = (failedAt: string, endsAt: string): string =>
  `${failedAt} + least(interval '1 day', greatest(interval '5 minutes', (${endsAt} - ${failedAt}) / 12))`;

/**
 * Whether a certificate `c` of a profile `p` is due for renewal: the configured days before expiration (its own setting, or that of its
 * profile), but not before half of its validity, so that renewals with a short validity are not due at once.
 */
const IS_DUE = `c.status = 'active' and c.not_after > now() and coalesce(c.renew_before_days, p.renew_before_days, 0) > 0
  and c.not_after - least(make_interval(days => coalesce(c.renew_before_days, p.renew_before_days)),
    (c.not_after - c.not_before) / 2) <= now()
  and not exists (select from certificate n where n.renewed_from_id = c.id)`;

/** Certificates that are due, by ID. */
export const listDue = sqlStatement({
  text: `select c.id from certificate c join certificate_profile p on p.id = c.profile_id
    where c.id > :after and ${IS_DUE}
      and not exists (select from certificate_request r where r.certificate_id = c.id and r.is_automatic and r.state = 'failed'
        and ${renewalRetryAt('r.created_at', 'c.not_after')} > now())
    order by c.id limit :most::integer`,
  params: { after: t.uuid, most: t.integer },
  row: { id: t.uuid },
});

/** Whether a certificate is still due. */
export const findDue = sqlStatement({
  text: `select c.id, c.not_after as "notAfter" from certificate c join certificate_profile p on p.id = c.profile_id
    where c.id = :id and ${IS_DUE}`,
  params: { id: t.uuid },
  row: { id: t.uuid, notAfter: t.time },
});

/** Creates automatic requests for certificates that have no pending one. */
export const requestRenewals = sqlStatement({
  text: `insert into certificate_request (id, organization_id, project_id, kind, state, is_automatic, actor_kind, actor_id, profile_slug,
      common_name, certificate_id)
    select gen_random_uuid(), c.organization_id, c.project_id, 'renewal', 'pending', true, 'system', :actorId, c.profile_slug,
      c.common_name, c.id
    from certificate c where c.id = any(:ids)
    on conflict (certificate_id) where state = 'pending' do nothing`,
  params: { ids: t.array(t.uuid), actorId: t.uuid },
  row: {},
});

/** Why the last automatic renewals of certificates failed that are not renewed, or why they wait. */
export const listRenewalFailures = sqlStatement({
  text: `select distinct on (c.id) c.id as "certificateId", coalesce(r.error_code, 'KEY_DISABLED') as code, r.created_at as "failedAt",
      case when r.state = 'failed' then ${renewalRetryAt('r.created_at', 'c.not_after')} end as "nextTryAt"
    from certificate_request r join certificate c on c.id = r.certificate_id
    where r.certificate_id = any(:certificateIds) and r.is_automatic
      and (r.state = 'failed' or r.state = 'pending' and ${hasDisabledKey('r.project_id')})
      and not exists (select from certificate n where n.renewed_from_id = c.id)
    order by c.id, r.created_at desc`,
  params: { certificateIds: t.array(t.uuid) },
  row: { certificateId: t.uuid, code: t.text, failedAt: t.time, nextTryAt: t.nullable(t.time) },
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
