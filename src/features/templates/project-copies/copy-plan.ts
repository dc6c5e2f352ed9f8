import { type Action, can, canAlways } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { Environment, type ProjectAccess, ProjectRole } from '../../projects/public.js';
import { type ContentsPlan, planContents, readsAllFolders, readsAllSecrets } from '../../secrets/public.js';
import { Tag } from '../../secrets/tags/public.js';
import { lockPresent } from '../project-templates/public.js';
import type { CopyPart } from './project-copy.rules.js';
import { listMembers, listPrivileges } from './project-copy.sql.js';

export type SkipReason =
  | 'not-readable'
  | 'value-not-readable'
  | 'folder-left-out'
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

/** What is copied of a role. */
const ROLE = ['slug', 'name', 'description', 'permissions'] as const;

/** What is copied of a project: as much of the parts as the caller may read. */
export interface CopyPlan {
  readonly settings: boolean;
  readonly ignoreValues: boolean;
  readonly environments: readonly { readonly id: string; readonly name: string; readonly slug: string }[];
  readonly contents: ContentsPlan;
  readonly roles: readonly Pick<ProjectRole, (typeof ROLE)[number]>[];
  /** Without the caller, who is an admin of the copy. */
  readonly members: readonly Member[];
  readonly privilegeIds: readonly string[];
  readonly tags: readonly Pick<Tag, 'id' | 'slug' | 'color'>[];
  readonly skipped: readonly Skip[];
}

/**
 * Plans what is copied. Takes the same statements for any size, and reads no value.
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
  const environments = reads('environments', 'environments:read')
    ? await tx.em.find(Environment, { projectId }, { fields: ['name', 'slug'], orderBy: { position: 'asc' } })
    : [];
  const contents = await planContents(tx, project, {
    environments,
    folders: parts.has('folders'),
    secrets: parts.has('secret-keys') || parts.has('secret-values'),
    values: parts.has('secret-values'),
  });
  const roles = reads('roles', 'role:read') ? await tx.em.find(ProjectRole, { projectId }, { fields: ROLE }) : [];
  const { members, left } =
    parts.has('members') && readsMembers(project) ? await planMembers(tx, project) : { members: [], left: [] };
  const membershipIds = members.map(({ id }) => id);
  const privileges = members.length === 0 ? [] : await listPrivileges(tx, { membershipIds });
  const tags = reads('tags', 'tags:read') ? await tx.em.find(Tag, { projectId }, { fields: ['slug', 'color'] }) : [];
  return {
    settings: parts.has('settings'),
    ignoreValues: reads('settings', 'settings:read'),
    environments,
    contents,
    roles,
    members,
    privilegeIds: privileges.map(({ id }) => id),
    tags,
    skipped: [...hiddenParts(project, parts), ...counted(contents), ...left],
  };
}

/**
 * Parts that the caller may not read, or not all of. By its rules alone: whether they actually hide anything is not
 * looked up, so that nobody learns it.
 */
function hiddenParts(project: ProjectAccess, parts: ReadonlySet<CopyPart>): Skip[] {
  const { ability } = project;
  const knowsEnvironments = can(ability, 'environments:read');
  const isWhole: Readonly<Record<CopyPart, boolean>> = {
    settings: can(ability, 'settings:read'),
    environments: knowsEnvironments,
    folders: knowsEnvironments && readsAllFolders(project),
    roles: can(ability, 'role:read'),
    members: readsMembers(project),
    tags: can(ability, 'tags:read'),
    'secret-keys': knowsEnvironments && readsAllSecrets(project),
    'secret-values': knowsEnvironments && readsAllSecrets(project),
  };
  return [...parts]
    .filter((part) => !isWhole[part])
    .map((part) => ({ part, reason: 'not-readable' as const, count: null }));
}

/**
 * Everything that decides about members, or nothing: what one membership, role or rule about tags forbids, a member may
 * have by another one, and would have in a copy without the first.
 */
const readsMembers = ({ ability }: ProjectAccess): boolean =>
  (['member:read', 'identity:read', 'groups:read', 'role:read', 'tags:read'] as const).every((action) =>
    canAlways(ability, action),
  );

const skip = (part: CopyPart, reason: SkipReason, count: number): Skip[] =>
  count === 0 ? [] : [{ part, reason, count }];

const counted = ({ importsLeftOut, valuesLeftOut }: ContentsPlan): Skip[] => [
  ...skip('folders', 'folder-left-out', importsLeftOut),
  ...skip('secret-values', 'value-not-readable', valuesLeftOut),
];

/** Members of the copy. */
async function planMembers(
  tx: Transaction,
  { projectId }: ProjectAccess,
): Promise<{ readonly members: readonly Member[]; readonly left: readonly Skip[] }> {
  const all = (await listMembers(tx, { projectId })).filter(({ memberId }) => memberId !== tx.actor.id);
  const present = await lockPresent(
    tx,
    all.map(({ memberId }) => memberId),
  );
  const outcomeOf = ({ isOwned, memberId, roles }: Member): SkipReason | 'copied' => {
    if (isOwned) return 'owned-by-project';
    return !present.has(memberId) || roles.length === 0 ? 'membership-ended' : 'copied';
  };
  const { copied = [], ...others } = Object.groupBy(all, outcomeOf);
  return {
    members: copied,
    left: Object.entries(others).flatMap(([reason, list]) => skip('members', reason as SkipReason, list.length)),
  };
}
