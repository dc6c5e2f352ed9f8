import { sql } from 'kysely';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, COUNT, columnsIn, pageByNewest, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { NameBounds, TimeBounds } from '../../../kernel/paging.js';
import type { ProjectSchema } from '../../projects/public.js';
import { ProjectRescueSchema } from './project-rescue.entity.js';

const tables = tablesOf<typeof ProjectRescueSchema | typeof ProjectSchema>();

const rescues = tables
  .selectFrom('project_rescue as r')
  .leftJoin('project as p', 'p.id', 'r.project_id')
  .select(columnsIn('r', ProjectRescueSchema, 'updatedAt'))
  .select(['p.name as projectName', sql<boolean>`now() < r.ends_at`.as('isActive')]);

/** Rescues of an organization by ID, in no order. */
export const findRescues = prepared(({ ids, organizationId }: { ids: readonly string[]; organizationId: string }) =>
  rescues.where('r.id', '=', anyOf(ids)).where('r.organization_id', '=', organizationId),
);

/** A rescue as read from the database. */
export type RescueRow = Awaited<ReturnType<typeof findRescues>>[number];

/** Which rescues of an organization. A null filter matches any. */
interface WantedRescues {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly isActive: boolean | null;
}

const isWanted = ({ organizationId, projectId, isActive }: WantedRescues) =>
  sql<boolean>`r.organization_id = ${organizationId} and (${projectId}::uuid is null or r.project_id = ${projectId}::uuid)
    and (${isActive}::boolean is null or (now() < r.ends_at) = ${isActive}::boolean)`;

/** They, newest first, then by ID. */
export const listRescues = prepared((page: TimeBounds & WantedRescues) =>
  rescues.where(isWanted(page)).$call(pageByNewest('r.created_at', 'r.id', page)),
);

/** Number of them. */
export const countRescues = prepared((wanted: WantedRescues) =>
  tables.selectFrom('project_rescue as r').select(COUNT).where(isWanted(wanted)),
);

/** Without a permanent admin and without an active rescue. With `offset 0` admins are looked up for each project, and never those of all. */
const IS_LOST = sql<boolean>`not exists (select from project_lasting_admin a where a.project_id = p.id offset 0)
  and not exists (select from project_rescue r where r.project_id = p.id and now() < r.ends_at)`;

/** Number of such projects of an organization. */
export const countWithoutAdmin = prepared(({ organizationId }: { organizationId: string }) =>
  tables.selectFrom('project as p').select(COUNT).where('p.organization_id', '=', organizationId).where(IS_LOST),
);

/** They, by name, then ID. */
export const listWithoutAdmin = prepared((page: NameBounds & { organizationId: string }) =>
  tables
    .selectFrom('project as p')
    .select(['p.id as projectId', 'p.name', 'p.slug'])
    .where('p.organization_id', '=', page.organizationId)
    .where(IS_LOST)
    .where(
      sql<boolean>`(${page.name}::text is null or (p.name collate "C", p.id) > (${page.name}::text, ${page.id}::uuid))`,
    )
    .orderBy(sql`p.name collate "C"`)
    .orderBy('p.id')
    .limit(page.limit),
);

// Terms of roles are written into objects, in statements that look and change at once.

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
export const assignAdmin = sqlStatement({
  text: `with own as (
      select from organization_membership where organization_id = :organizationId and :memberId in (user_id, identity_id)
        and (ends_at is null or now() < ends_at) for key share),
    former as (
      select id, (role_terms -> 'admin' ->> 'endsAt')::timestamptz as ends_at from project_membership
      where project_id = :projectId and :memberId in (user_id, identity_id)),
    locked as (
      update project_membership set updated_at = now(),
        roles = case when 'admin' = any(roles) then roles else roles || 'admin'::text end,
        role_terms = coalesce(role_terms, '{}') || jsonb_build_object('admin', :term::jsonb)
      where project_id = :projectId and :memberId in (user_id, identity_id) and exists (select from own) returning id),
    made as (
      insert into project_membership (id, organization_id, project_id, user_id, identity_id, roles, role_terms)
      select :id, :organizationId, :projectId, :userId, :identityId, '{admin}', jsonb_build_object('admin', :term::jsonb)
      from own where not exists (select from locked) returning id)
    select changed.id, case when now() < former.ends_at then former.ends_at end as "formerEndsAt"
    from (select id from locked union all select id from made) changed left join former on former.id = changed.id`,
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
  text: `with locked as (
      select id, ends_at from project_rescue
      where id = :id and organization_id = :organizationId and clock_timestamp() < ends_at for no key update)
    update project_rescue r set ends_at = date_trunc('milliseconds', now()), updated_at = now()
    from locked where r.id = locked.id
    returning r.project_id as "projectId", r.user_id as "userId", r.identity_id as "identityId", locked.ends_at as "endsAt"`,
  params: { id: t.uuid, organizationId: t.uuid },
  row: { projectId: t.uuid, userId: t.nullable(t.uuid), identityId: t.nullable(t.uuid), endsAt: t.time },
});

/** Ends the role that a rescue assigned; a later assignment, permanent or with another term, stays. */
export const unassignAdmin = sqlStatement({
  text: `update project_membership set role_terms = jsonb_set(role_terms, '{admin,endsAt}', to_jsonb(now())), updated_at = now()
    where project_id = :projectId and :memberId in (user_id, identity_id) and (role_terms -> 'admin' ->> 'endsAt')::timestamptz = :endsAt`,
  params: { projectId: t.uuid, memberId: t.uuid, endsAt: t.time },
  row: {},
});
