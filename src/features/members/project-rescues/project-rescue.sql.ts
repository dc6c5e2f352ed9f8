// Terms of roles are written into objects, in statements that look and change at once.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * A row, if the project needs no rescue, or not by the caller: it has a permanent admin, or one for the time of a
 * rescue; or the caller has that role until then or longer, even if it starts later, and the rescue would shorten that
 * term.
 */
export const findAdmin = sqlStatement({
  text: `select 1 as found where exists (select from project_lasting_admin a where a.project_id = :projectId)
    or exists (select from project_rescue r where r.project_id = :projectId and now() < r.ends_at)
    or exists (select from project_membership m where m.project_id = :projectId and :memberId in (m.user_id, m.identity_id)
      and 'admin' = any(m.roles) and (not coalesce(m.role_terms ? 'admin', false)
        or :endsAt <= (m.role_terms -> 'admin' ->> 'endsAt')::timestamptz))`,
  params: { projectId: t.uuid, memberId: t.uuid, endsAt: t.time },
  row: { found: t.integer },
});

/**
 * Makes a member of the organization a temporary admin of the project, besides its roles there. No row: it is not a
 * direct member now.
 *
 * @returns the end of its previous term in that role, if that is in the future
 */
export const giveAdmin = sqlStatement({
  text: `with own as (
      select from organization_membership where organization_id = :organizationId and :memberId in (user_id, identity_id)
        and (ends_at is null or now() < ends_at) for key share),
    former as (
      select id, (role_terms -> 'admin' ->> 'endsAt')::timestamptz as ends_at from project_membership
      where project_id = :projectId and :memberId in (user_id, identity_id)),
    held as (
      update project_membership set updated_at = now(),
        roles = case when 'admin' = any(roles) then roles else roles || 'admin'::text end,
        role_terms = coalesce(role_terms, '{}') || jsonb_build_object('admin', :term::jsonb)
      where project_id = :projectId and :memberId in (user_id, identity_id) and exists (select from own) returning id),
    made as (
      insert into project_membership (id, organization_id, project_id, user_id, identity_id, roles, role_terms)
      select :id, :organizationId, :projectId, :userId, :identityId, '{admin}', jsonb_build_object('admin', :term::jsonb)
      from own where not exists (select from held) returning id)
    select changed.id, case when now() < former.ends_at then former.ends_at end as "formerEndsAt"
    from (select id from held union all select id from made) changed left join former on former.id = changed.id`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    memberId: t.uuid,
    userId: t.nullable(t.uuid),
    identityId: t.nullable(t.uuid),
    term: t.json,
  },
  row: { id: t.uuid, formerEndsAt: t.nullable(t.time) },
});

/** Ends a rescue that has not ended, by the clock: a statement that waited for another one like it began before it. */
export const endRescue = sqlStatement({
  text: `with held as (
      select id, ends_at from project_rescue
      where id = :id and organization_id = :organizationId and clock_timestamp() < ends_at for no key update)
    update project_rescue r set ends_at = date_trunc('milliseconds', now()), updated_at = now()
    from held where r.id = held.id
    returning r.project_id as "projectId", r.user_id as "userId", r.identity_id as "identityId", held.ends_at as "endsAt"`,
  params: { id: t.uuid, organizationId: t.uuid },
  row: { projectId: t.uuid, userId: t.nullable(t.uuid), identityId: t.nullable(t.uuid), endsAt: t.time },
});

/** Ends the role that a rescue assigned; a later assignment, permanent or with another term, stays. */
export const endAdmin = sqlStatement({
  text: `update project_membership set role_terms = jsonb_set(role_terms, '{admin,endsAt}', to_jsonb(now())), updated_at = now()
    where project_id = :projectId and :memberId in (user_id, identity_id) and (role_terms -> 'admin' ->> 'endsAt')::timestamptz = :endsAt`,
  params: { projectId: t.uuid, memberId: t.uuid, endsAt: t.time },
  row: {},
});
