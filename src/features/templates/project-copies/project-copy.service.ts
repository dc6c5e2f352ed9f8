import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { type Action, authorize, can, canAlways } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import {
  DEFAULT_TEMPLATE,
  Environment,
  lockProject,
  type MakeProject,
  openIgnoreValues,
  Project,
  type ProjectAccess,
  type ProjectContents,
  type ProjectReader,
  ProjectRole,
  type ReadProject,
  sealIgnoreValues,
} from '../../projects/public.js';
import {
  type ContentsPlan,
  planContents,
  readsAllFolders,
  readsAllSecrets,
  writeContents,
} from '../../secrets/public.js';
import { Tag } from '../../secrets/tags/public.js';
import { lockCurrentMembers } from '../project-templates/public.js';
import { type CopyPart, CopyProject } from './project-copy.rules.js';
import { copyMembers, copyPrivileges, copySettings, listMembers, listPrivileges } from './project-copy.sql.js';

/** Sizes of the parts of a copy. */
interface CopyCounts {
  readonly environments: number;
  readonly folders: number;
  readonly imports: number;
  readonly roles: number;
  readonly members: number;
  readonly privileges: number;
  readonly tags: number;
  readonly secrets: number;
  readonly values: number;
}

/** What was copied, or would be. */
export interface ProjectCopy {
  /** Null for a preview. */
  readonly project: ReadProject | null;
  readonly counts: CopyCounts;
  readonly skipped: readonly Skip[];
}

/** Copies projects. */
export class ProjectCopyService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly makeProject: MakeProject,
  ) {}

  /**
   * Creates a project with as much of the parts of another one as the caller may read; the rest is left out. The caller
   * becomes an admin of it. Histories, deleted and personal secrets, and the template are not copied.
   *
   * @param raw `{ projectId, name, slug?, description?, parts, dryRun }`; the rules are `CopyProject`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PROJECT_NOT_FOUND, MEMBERSHIP_NOT_FOUND for a member of the
   * organization only through a group, COPY_TOO_LARGE, PROJECT_SLUG_TAKEN, CONCURRENT_CHANGE, SEALED_VALUE_INVALID,
   * ORGANIZATION_NOT_FOUND, USER_NOT_FOUND and IDENTITY_NOT_FOUND (deleted at the same moment), AUDIT_UNAVAILABLE
   */
  async copy(ctx: Context, raw: unknown): Promise<ProjectCopy> {
    const { projectId: id, parts: listed, dryRun, ...named } = parse(CopyProject, raw);
    authorize(ctx, 'workspace:create');
    const source = await this.projects.load(ctx, id);
    const parts = new Set(listed);
    if (dryRun)
      return preview(ctx, source, await inTransaction(ctx, (tx) => this.#rehearse(tx, id, parts, named.slug)));
    let plan: CopyPlan | undefined;
    const wanted = { ...named, ...NEW_PROJECT, type: source.type };
    const project = await this.makeProject(ctx, wanted, async (tx) => {
      // The statements read the same point in time: every change writes the row of its project.
      await lockProject(tx, source);
      await lockMaker(tx);
      const present = await this.projects.load(tx, id);
      plan = await planCopy(tx, present, parts);
      return contentsOf(tx, present, plan);
    });
    return { project, ...outcomeOf(plan as CopyPlan) };
  }

  /** @throws as `copy` */
  async #rehearse(
    tx: Transaction,
    id: string,
    parts: ReadonlySet<CopyPart>,
    slug: string | null | undefined,
  ): Promise<CopyPlan> {
    const { organizationId } = tx;
    await lockMaker(tx);
    const plan = await planCopy(tx, await this.projects.load(tx, id), parts);
    const isTaken = slug != null && (await tx.em.count(Project, { organizationId, slug })) > 0;
    if (isTaken) throw new AppError('PROJECT_SLUG_TAKEN');
    return plan;
  }
}

/** What the copy gets on its own: environments come with the parts, and settings are written with them. */
const NEW_PROJECT = { template: DEFAULT_TEMPLATE, shouldCreateDefaultEnvs: false, hasDeleteProtection: false };

/** Only a direct member of the organization can be the admin of a project. @throws MEMBERSHIP_NOT_FOUND */
async function lockMaker(tx: Transaction): Promise<void> {
  const present = await lockCurrentMembers(tx, [tx.actor.id]);
  if (!present.has(tx.actor.id)) throw new AppError('MEMBERSHIP_NOT_FOUND');
}

async function preview(ctx: Context, { projectId }: ProjectAccess, plan: CopyPlan): Promise<ProjectCopy> {
  const outcome = outcomeOf(plan);
  await ctx.auditTrail.recordRead(ctx, { action: 'project:copy-dry-run', projectId, facts: { ...outcome.counts } });
  return { project: null, ...outcome };
}

const contentsOf = (tx: Transaction, source: ProjectAccess, plan: CopyPlan): ProjectContents => ({
  template: null,
  environments: plan.environments,
  creatorRoles: [],
  facts: { sourceProjectId: source.projectId, ...countsOf(plan) },
  fill: (projectId) => writeCopy(tx, source, projectId, plan),
});

const outcomeOf = (plan: CopyPlan): Omit<ProjectCopy, 'project'> => ({
  counts: countsOf(plan),
  skipped: plan.skipped,
});

const countsOf = ({ environments, contents, roles, members, privilegeIds, tags }: CopyPlan): CopyCounts => ({
  environments: environments.length,
  // Each environment has its own root folder.
  folders: contents.folders.filter(({ path }) => path !== '/').length,
  imports: contents.imports.length,
  roles: roles.length,
  members: members.length,
  privileges: privilegeIds.length,
  tags: tags.length,
  secrets: contents.secrets.length,
  values: contents.secrets.filter(({ withValue }) => withValue).length,
});

type SkipReason = 'not-readable' | 'value-not-readable' | 'folder-left-out' | 'owned-by-project' | 'membership-ended';

/** What is left out of a copy, and why. */
interface Skip {
  readonly part: CopyPart;
  readonly reason: SkipReason;
  /** Null where the caller may not know how many there are, or whether there are any. */
  readonly count: number | null;
}

type Member = Awaited<ReturnType<typeof listMembers>>[number];

/** What is copied of a role. */
const ROLE = ['slug', 'name', 'description', 'permissions'] as const;

/** What is copied of a project: as much of the parts as the caller may read. */
interface CopyPlan {
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
async function planCopy(tx: Transaction, project: ProjectAccess, parts: ReadonlySet<CopyPart>): Promise<CopyPlan> {
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
  const present = await lockCurrentMembers(
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

/**
 * Fills a new project, which has its environments and its admin, with the planned contents. The number of statements
 * depends only on the batches of secrets.
 *
 * @returns details for the audit record
 * @throws CONCURRENT_CHANGE, SEALED_VALUE_INVALID
 */
async function writeCopy(
  tx: Transaction,
  source: ProjectAccess,
  projectId: string,
  plan: CopyPlan,
): Promise<readonly AuditEvent[]> {
  const { organizationId, actor } = tx;
  const { roles, members, privilegeIds, tags, contents } = plan;
  const copy = { sourceId: source.projectId, projectId };
  if (plan.settings) await copySettings(tx, { ...copy, ...(await resealedIgnoreValues(tx, copy, plan)) });
  if (roles.length > 0)
    await tx.em.insertMany(
      ProjectRole,
      roles.map(({ slug, name, description, permissions }) => ({
        ...{ id: newId(), organizationId, projectId },
        ...{ slug, name, description, permissions },
      })),
    );
  const [newMemberIds, newPrivilegeIds] = [newIds(members), newIds(privilegeIds)];
  const tagIds = new Map(tags.map(({ id }) => [id, newId()]));
  if (tags.length > 0)
    await tx.em.insertMany(
      Tag,
      tags.map(({ id, slug, color }) => ({ id: tagIds.get(id) as string, organizationId, projectId, slug, color })),
    );
  const ids = members.map(({ id }) => id);
  if (ids.length > 0) await copyMembers(tx, { projectId, ids, newIds: newMemberIds });
  if (privilegeIds.length > 0) await copyPrivileges(tx, { projectId, ids: privilegeIds, newIds: newPrivilegeIds });
  const target = {
    organizationId,
    projectId,
    enforceEncryptedSecretMetadata: plan.settings && source.enforceEncryptedSecretMetadata,
    tagIds,
    userIds: new Set([actor, ...members.map(({ kind, memberId: id }) => ({ kind, id }))].flatMap(userIdOf)),
  };
  const { events, disclosed } = await writeContents(tx, source, target, contents);
  const facts = { copyId: projectId, values: plan.contents.secrets.filter(({ withValue }) => withValue).length };
  return [...events, { action: 'project:copy', projectId: source.projectId, facts, disclosed }];
}

/** As many as these, in order: rows created at the same moment are evaluated in the order of their IDs. */
const newIds = (rows: readonly unknown[]): string[] => rows.map(newId).sort();

const userIdOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string[] =>
  kind === 'user' ? [id] : [];

const IGNORE_VALUES = ['secretDetectionIgnoreValuesSealed', 'secretDetectionIgnoreValuesVersion'] as const;

/** The values that leak detection ignores, sealed for the new project. */
async function resealedIgnoreValues(
  tx: Transaction,
  { sourceId, projectId }: { readonly sourceId: string; readonly projectId: string },
  { ignoreValues }: CopyPlan,
): Promise<{ readonly ignoreValuesSealed: Buffer | null; readonly version: number }> {
  const source = ignoreValues ? await tx.em.findOne(Project, { id: sourceId }, { fields: IGNORE_VALUES }) : null;
  const sealed = source?.secretDetectionIgnoreValuesSealed ?? null;
  if (source === null || sealed === null) return { ignoreValuesSealed: null, version: 0 };
  const place = { projectId: sourceId, version: source.secretDetectionIgnoreValuesVersion };
  const values = await openIgnoreValues(tx, place, sealed);
  const version = 1;
  return { ignoreValuesSealed: await sealIgnoreValues(tx, { projectId, version }, values), version };
}
