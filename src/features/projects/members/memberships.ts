import type { Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batchOfLists, batchOfOwned } from '../../../kernel/database/batched.js';
import { isId } from '../../../kernel/ids.js';
import type { ListOrder, OrderedBounds } from '../../../kernel/list-order.js';
import { builtInRules, findProjectRules, isBuiltIn, withAttributes } from '../../identity/permissions/public.js';
import { type AssignedRole, type MemberKind, type MemberNames, toAssignedRoles } from './membership.rules.js';
import {
  countMembersOfProjects,
  findGroupByName,
  findMemberById,
  findMemberships,
  findOneMembership,
  findUsersByName,
  listAssignments,
  listMembershipsInOrder,
  listMembershipsOfMembers,
  listMembershipsOfUsers,
  type MembershipRow,
} from './membership.sql.js';

/** A membership with the name of its member. */
export interface MembershipRecord extends Omit<MembershipRow, 'activeSlugs'> {
  readonly roleAssignments: readonly AssignedRole[];
}

/** One membership; undefined when there is none. */
export async function findMembership(
  ctx: Context,
  projectId: string,
  kind: MemberKind,
  memberId: string,
): Promise<MembershipRecord | undefined> {
  const [row] = await findOneMembership[kind](ctx, { projectId, memberId });
  return row && toRecord(row);
}

/**
 * IDs of users who belong to the organization of the caller's scope, by username: its own, or of the root organization.
 * Unknown usernames are left out.
 */
export async function findUserIds(tx: Transaction, usernames: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { organizationId, rootOrganizationId } = tx;
  const rows = await findUsersByName(tx, { organizationId, rootOrganizationId, usernames });
  return new Map(rows.map(({ id, username }) => [username, id]));
}

/** Memberships of some users, by name, then ID. */
export async function membershipsOfUsers(
  ctx: Context,
  projectId: string,
  userIds: readonly string[],
): Promise<MembershipRecord[]> {
  return (await listMembershipsOfUsers(ctx, { projectId, userIds })).map(toRecord);
}

/** Which memberships of a project a page has. */
interface MembershipPage extends Omit<OrderedBounds, 'since'> {
  readonly kinds: readonly MemberKind[];
  readonly order: ListOrder;
  readonly since: string | null;
}

/** Pages of the memberships of many projects, each in an order, then by ID. For `batched`. */
export const pagesOfMembers = batchOfLists<MembershipRecord, MembershipPage>(
  async (ctx, projectIds, { order, since, ...page }) => {
    const bounds = { ...page, since: since === null ? null : new Date(since) };
    return (await listMembershipsInOrder(ctx, order, { projectIds, ...bounds })).map(toRecord);
  },
  ({ projectId }) => projectId,
);

/** How many members of each kind projects have, by project. For `batched`. */
export const countsOfMembers = batchOfOwned(
  (ctx, projectIds) => countMembersOfProjects(ctx, { projectIds }),
  ({ projectId }) => projectId,
);

/** Memberships by ID, in no order. */
export const membershipsByIds = async (ctx: Context, ids: readonly string[]): Promise<MembershipRecord[]> =>
  (await findMemberships(ctx, { ids, organizationId: ctx.organizationId })).map(toRecord);

/** Memberships of many users, identities and groups in the organization of the caller's scope, by ID. */
export const membershipsOfMembers = async (ctx: Context, memberIds: readonly string[]): Promise<MembershipRecord[]> =>
  (await listMembershipsOfMembers(ctx, { memberIds, organizationId: ctx.organizationId })).map(toRecord);

/**
 * The member of the organization that a request names; undefined when there is none.
 *
 * @param named its ID, or that of its membership; for a user also its username, for a group its slug or name
 */
export async function findMember(
  ctx: Context,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string },
  kind: MemberKind,
  named: string,
): Promise<MemberNames | undefined> {
  if (isId(named)) {
    const [row] = await findMemberById[kind](ctx, { organizationId, named, projectId });
    // A group may have what looks like an id as its slug.
    if (row !== undefined || kind !== 'group') return row;
  }
  if (kind === 'identity') return undefined;
  const { rootOrganizationId } = ctx;
  if (kind === 'group') return (await findGroupByName(ctx, { organizationId, named, rootOrganizationId }))[0];
  const [user] = await findUsersByName(ctx, { organizationId, rootOrganizationId, usernames: [named] });
  return user && { memberId: user.id, name: user.username, groupSlug: null };
}

const toRecord = ({ activeSlugs, ...row }: MembershipRow): MembershipRecord => ({
  ...row,
  roleAssignments: toAssignedRoles(row.projectId, { slugs: row.roleSlugs, terms: row.roleTerms }, activeSlugs),
});

/** A role or privilege of an account in a project. */
interface ProjectAssignment {
  readonly memberId: string;
  readonly projectId: string;
  readonly rules: readonly Rule[];
  readonly hasBegun: boolean;
  /** When it ends by itself, whatever the membership of the organization that it stands on does. Null: it has no end. */
  readonly termEndsAt: Date | null;
  /** When it ends, one way or the other. */
  readonly endsAt: Date | null;
}

/**
 * What accounts hold in projects of the caller's organization and of those below it, in the order in which rules count: what has not
 * begun, too, but nothing that has ended. In one statement. Whether the caller may know that is not judged here.
 */
export async function listProjectAssignments(ctx: Context, memberIds: readonly string[]): Promise<ProjectAssignment[]> {
  const rows = await listAssignments(ctx, { organizationId: ctx.organizationId, memberIds });
  const texts = new Map(
    rows.flatMap(({ digest, rules }) => (digest === null || rules === null ? [] : [[digest, rules]])),
  );
  const holdings = rows.map(({ slug, digest, rules: _, attributes, ...row }) => ({
    ...row,
    isBuiltIn: slug !== null && isBuiltIn(slug),
    rules: slug !== null && isBuiltIn(slug) ? builtInRules(slug) : storedRules(digest, texts, attributes),
  }));
  // Built-in roles come first, whatever their order: see `rulesOfRoles`.
  return [...holdings.filter((each) => each.isBuiltIn), ...holdings.filter((each) => !each.isBuiltIn)];
}

function storedRules(
  digest: string | null,
  texts: ReadonlyMap<string, string>,
  attributes: string | null,
): readonly Rule[] {
  const list = digest === null ? undefined : findProjectRules({ digest, rules: texts.get(digest) ?? null });
  if (list === undefined) return [];
  return list.namesAttributes ? withAttributes(list.checked, JSON.parse(attributes ?? '{}')) : list.checked;
}
