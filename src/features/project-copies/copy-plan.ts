import { type Action, can, canAlways } from '../../kernel/authz/ability.js';
import type { Transaction } from '../../kernel/context.js';
import { isBuiltIn } from '../permissions/public.js';
import { HOLD_STANDING } from '../project-templates/public.js';
import { fieldsOf, type ProjectAccess, subjectOf } from '../projects/public.js';
import { type ContentsPlan, planContents, readsAllFolders, readsAllSecrets } from '../secrets/public.js';
import type { CopyPart } from './project-copy.rules.js';
import { listEnvironments, listMembers, listPrivileges, listRoles, listTagIds } from './project-copy.sql.js';

export type SkipReason =
  | 'not-readable'
  | 'value-not-readable'
  | 'folder-left-out'
  | 'role-left-out'
  | 'tag-left-out'
  | 'owned-by-project'
  | 'membership-ended';

/** What is left out of a copy, and why. */
export interface Skip {
  readonly part: CopyPart;
  readonly reason: SkipReason;
  /** Null where the caller may not know how many there are, or whether there are any. */
  readonly count: number | null;
}

type Member = Awaited<ReturnType<typeof listMembers>>[number];
type Role = Awaited<ReturnType<typeof listRoles>>[number];
type Privilege = Awaited<ReturnType<typeof listPrivileges>>[number];

/** What is copied of a project: as much of the parts as the caller may read. */
export interface CopyPlan {
  readonly settings: boolean;
  readonly ignoreValues: boolean;
  readonly environments: readonly { readonly id: string; readonly name: string; readonly slug: string }[];
  readonly contents: ContentsPlan;
  readonly roleSlugs: readonly string[];
  /** Without the caller, who is an admin of the copy. */
  readonly members: readonly Member[];
  readonly privilegeIds: readonly string[];
  readonly tagIds: readonly string[];
  readonly skipped: readonly Skip[];
}

/**
 * Finds out what is copied. Takes the same statements however much that is, and reads no value.
 *
 * @throws COPY_TOO_LARGE
 */
export async function planCopy(
  tx: Transaction,
  project: ProjectAccess,
  parts: ReadonlySet<CopyPart>,
): Promise<CopyPlan> {
  const { ability, projectId } = project;
  const reads = (part: CopyPart, action: Action): boolean => parts.has(part) && can(ability, action);
  const environments = reads('environments', 'environments:read') ? await listEnvironments(tx, { projectId }) : [];
  const contents = await planContents(tx, project, {
    environments,
    folders: parts.has('folders'),
    secrets: parts.has('secret-keys') || parts.has('secret-values'),
    values: parts.has('secret-values'),
  });
  const roles = reads('roles', 'role:read') ? await listRoles(tx, { projectId }) : [];
  const roleSlugs = roles.map(({ slug }) => slug);
  const { members, left } = parts.has('members')
    ? await planMembers(tx, project, new Set(roleSlugs))
    : { members: [], left: [] };
  const membershipIds = members.map(({ id }) => id);
  const privileges = members.length === 0 ? [] : await listPrivileges(tx, { membershipIds });
  const hasTags = reads('tags', 'tags:read');
  const tags = hasTags ? await listTagIds(tx, { projectId }) : [];
  const freed = hasTags || contents.secrets.length === 0 ? new Set() : freedWithoutTags(members, roles, privileges);
  return {
    settings: parts.has('settings'),
    ignoreValues: reads('settings', 'settings:read'),
    environments,
    contents,
    roleSlugs,
    members: members.filter(({ id }) => !freed.has(id)),
    privilegeIds: privileges.filter(({ membershipId }) => !freed.has(membershipId)).map(({ id }) => id),
    tagIds: tags.map(({ id }) => id),
    skipped: [
      ...hiddenParts(project, parts),
      ...counted(contents),
      ...left,
      ...skip('members', 'tag-left-out', freed.size),
    ],
  };
}

/**
 * Parts that the caller may not read, or not all of. By its rules alone: whether there is anything that they hide is not
 * looked at, so that nobody learns it.
 */
function hiddenParts(project: ProjectAccess, parts: ReadonlySet<CopyPart>): Skip[] {
  const { ability } = project;
  const knowsEnvironments = can(ability, 'environments:read');
  const isWhole: Readonly<Record<CopyPart, boolean>> = {
    settings: can(ability, 'settings:read'),
    environments: knowsEnvironments,
    folders: knowsEnvironments && readsAllFolders(project),
    roles: can(ability, 'role:read'),
    members: MEMBERS.every((action) => canAlways(ability, action)),
    tags: can(ability, 'tags:read'),
    'secret-keys': knowsEnvironments && readsAllSecrets(project),
    'secret-values': knowsEnvironments && readsAllSecrets(project),
  };
  return [...parts]
    .filter((part) => !isWhole[part])
    .map((part) => ({ part, reason: 'not-readable' as const, count: null }));
}

const MEMBERS = ['member:read', 'identity:read', 'groups:read'] as const;

const skip = (part: CopyPart, reason: SkipReason, count: number): Skip[] =>
  count === 0 ? [] : [{ part, reason, count }];

const counted = ({ importsLeftOut, valuesLeftOut }: ContentsPlan): Skip[] => [
  ...skip('folders', 'folder-left-out', importsLeftOut),
  ...skip('secret-values', 'value-not-readable', valuesLeftOut),
];

/** Memberships whose rules forbid something with secrets by their tags: without these they would forbid nothing. */
function freedWithoutTags(
  members: readonly Member[],
  roles: readonly Role[],
  privileges: readonly Privilege[],
): ReadonlySet<string> {
  const slugs = new Set(roles.filter(({ forbidsByTags }) => forbidsByTags).map(({ slug }) => slug));
  const byRole = members.filter((member) => member.roles.some((slug) => slugs.has(slug))).map(({ id }) => id);
  const byPrivilege = privileges.filter(({ forbidsByTags }) => forbidsByTags).map(({ membershipId }) => membershipId);
  return new Set([...byRole, ...byPrivilege]);
}

/** Who joins the copy: with all its roles, or not at all, since a role may be one that forbids. */
async function planMembers(
  tx: Transaction,
  project: ProjectAccess,
  roleSlugs: ReadonlySet<string>,
): Promise<{ readonly members: readonly Member[]; readonly left: readonly Skip[] }> {
  const { organizationId, projectId, ability } = project;
  const all = await listMembers(tx, { projectId });
  const readable = all.filter(
    (member) =>
      member.memberId !== tx.actor.id && can(ability, `${subjectOf(member.kind)}:read`, fieldsOf(member.kind, member)),
  );
  const ids = readable.map(({ memberId }) => memberId);
  const standing = ids.length === 0 ? [] : await HOLD_STANDING(tx, { organizationId, ids });
  const present = new Set(standing.filter(({ hasEnded }) => !hasEnded).map(({ id }) => id));
  const fateOf = ({ isOwned, memberId, roles }: Member): SkipReason | 'copied' => {
    if (isOwned) return 'owned-by-project';
    if (!present.has(memberId) || roles.length === 0) return 'membership-ended';
    return roles.every((slug) => isBuiltIn(slug) || roleSlugs.has(slug)) ? 'copied' : 'role-left-out';
  };
  const { copied = [], ...others } = Object.groupBy(readable, fateOf);
  return {
    members: copied,
    left: Object.entries(others).flatMap(([reason, list]) => skip('members', reason as SkipReason, list.length)),
  };
}
