import { sql } from 'kysely';
import { anyOf, COUNT, pageByNewest, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import type { IdentitySchema, UserSchema } from '../../identity/organizations/public.js';
import type { AllProjectsMembershipSchema } from '../../projects/public.js';
import type { GroupSchema } from '../groups/public.js';
import type { MemberKind } from './all-projects-membership.rules.js';

const tables = tablesOf<
  typeof AllProjectsMembershipSchema | typeof UserSchema | typeof IdentitySchema | typeof GroupSchema
>();

const KIND = sql<MemberKind>`case when w.user_id is not null then 'user' when w.identity_id is not null then 'identity' else 'group' end`;

const memberships = tables
  .selectFrom('all_projects_membership as w')
  .leftJoin('app_user as u', 'u.id', 'w.user_id')
  .leftJoin('identity as i', 'i.id', 'w.identity_id')
  .leftJoin('member_group as g', 'g.id', 'w.group_id')
  .select(['w.id', 'w.organization_id as organizationId', 'w.role as roleSlug', 'w.permissions', 'w.ends_at as endsAt'])
  .select(['w.user_id as userId', 'w.identity_id as identityId', 'w.group_id as groupId'])
  .select(['w.created_at as createdAt', 'w.updated_at as updatedAt'])
  .select([
    KIND.as('memberKind'),
    sql<string>`coalesce(w.user_id, w.identity_id, w.group_id)`.as('memberId'),
    sql<string>`coalesce(u.username, i.name, g.name, '')`.as('name'),
    sql<boolean>`w.ends_at is null or now() < w.ends_at`.as('isActive'),
  ]);

/** Memberships of all projects of an organization by ID, in no order. */
export const findMemberships = prepared(({ ids, organizationId }: { ids: readonly string[]; organizationId: string }) =>
  memberships.where('w.id', '=', anyOf(ids)).where('w.organization_id', '=', organizationId),
);

/** A membership as read from the database. */
export type MembershipRow = Awaited<ReturnType<typeof findMemberships>>[number];

interface Wanted {
  readonly organizationId: string;
  /** Null: all kinds of members. */
  readonly kind: MemberKind | null;
}

/** Those of an organization, newest first, then by ID. */
export const listMemberships = prepared((page: TimeBounds & Wanted) =>
  memberships
    .where('w.organization_id', '=', page.organizationId)
    .where(sql<boolean>`(${page.kind}::text is null or ${KIND} = ${page.kind}::text)`)
    .$call(pageByNewest('w.created_at', 'w.id', page)),
);

/** How many such a list has. */
export const countMemberships = prepared(({ organizationId, kind }: Wanted) =>
  tables
    .selectFrom('all_projects_membership as w')
    .select(COUNT)
    .where('w.organization_id', '=', organizationId)
    .where(sql<boolean>`(${kind}::text is null or ${KIND} = ${kind}::text)`),
);
