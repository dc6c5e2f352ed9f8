import { raw as sql } from '@mikro-orm/core';
import { authorize, PermissionDenied, type Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import { readStoredRules, rightsBeyondChange } from '../../identity/permissions/public.js';
import {
  authorizeMemberChanges,
  Environment,
  fieldsOf,
  lockProject,
  type MemberChange,
  Project,
  type ProjectAccess,
  ProjectMembership,
  type ProjectReader,
  ProjectRole,
  subjectOf,
} from '../../projects/public.js';
import { createRootFolders } from '../../secrets/public.js';
import { insertIdentities, insertMembers, insertRoles, lockCurrentMembers } from './template-application.js';
import { authorizeReading, compare, type Drift, mayRead, namesOf, readable, subjectKindOf } from './template-drift.js';
import { closePositions, renameEnvironments, updateMembers, updateRoles } from './template-drift.queries.js';
import {
  ALL_PARTS,
  ApplyProjectTemplate,
  type Difference,
  DriftOfProject,
  type EnvironmentDifference,
  type KeptItem,
  type MemberDifference,
  type Plan,
  type ProjectState,
  planOf,
  type RoleDifference,
  remainingDifferences,
  type TemplatePart,
} from './template-drift.rules.js';

/** The changes made (or previewed) and the remaining differences; null for a project without a template. */
export interface Applied {
  readonly isDryRun: boolean;
  readonly applied: Drift | null;
  readonly left: Drift | null;
  readonly kept: readonly KeptItem[];
}

const CONSTRAINTS = {
  project_keeps_an_admin: 'LAST_ADMIN',
  project_template_version_fk: 'PROJECT_TEMPLATE_NOT_FOUND',
  project_role_slug_unique: 'ROLE_SLUG_TAKEN',
} as const;

/** Compares projects with the templates that they were created from, and updates them. */
export class TemplateDriftService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * The differences between a project and the current version of its template; null without a template.
   *
   * @param raw `{ projectId }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async drift(ctx: Context, raw: unknown): Promise<Drift | null> {
    const { projectId } = parse(DriftOfProject, raw);
    const project = await this.projects.load(ctx, projectId);
    authorizeReading(ctx, project, ALL_PARTS);
    const compared = await compare(ctx, project);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'project-template:drift',
      projectId: project.projectId,
      facts: { templateId: compared?.drift.template.id ?? null },
    });
    return compared && readable(project, compared.drift);
  }

  /**
   * Updates parts of a project to match its template. Environments with secrets or folders are kept, and so are roles that members have.
   *
   * @param raw `{ projectId, parts, removes?, dryRun? }`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, ROLE_NOT_FOUND if members get a role that the
   *   project does not have, ROLE_SLUG_TAKEN and PROJECT_TEMPLATE_NOT_FOUND (created or deleted concurrently),
   *   LAST_ADMIN, AUDIT_UNAVAILABLE
   */
  async apply(ctx: Context, raw: unknown): Promise<Applied> {
    const { projectId, ...wanted } = parse(ApplyProjectTemplate, raw);
    const { project, outcome } = await inTransaction(ctx, (tx) => this.#apply(tx, projectId, wanted));
    if (wanted.dryRun) await ctx.auditTrail.recordRead(ctx, recordOf(project, outcome));
    return answer(project, outcome);
  }

  async #apply(
    tx: Transaction,
    projectId: string,
    wanted: ApplyOptions,
  ): Promise<{ readonly project: ProjectAccess; readonly outcome: Outcome }> {
    const project = await this.projects.load(tx, projectId);
    authorizeReading(tx, project, wanted.parts);
    authorizeKinds(project, wanted);
    await lockProject(tx, project);
    const compared = await compare(tx, project, (ids) => lockCurrentMembers(tx, ids));
    const { drift, state } = compared ?? { drift: null, state: null };
    const plan = drift === null ? NOTHING : planOf(drift, state, wanted);
    if (state !== null) await authorizePlan(tx, project, plan, state);
    const outcome = { drift, plan, ...wanted };
    if (!wanted.dryRun) {
      if (compared !== null) await this.#carryOut(tx, project, { ...outcome, ...compared });
      await tx.auditTrail.recordChange(tx, recordOf(project, outcome));
    }
    return { project, outcome };
  }

  async #carryOut(tx: Transaction, project: ProjectAccess, application: Application): Promise<void> {
    const { projectId } = project;
    const { plan, drift, state } = application;
    const { version } = drift.template;
    await withConstraintCodes(async () => {
      await carryOut(tx, { projectId, plan, state });
      if (!reachesVersion(project, application)) return;
      await tx.em.nativeUpdate(Project, { id: projectId }, { templateVersion: version, updatedAt: sql('now()') });
    }, CONSTRAINTS);
  }
}

/** Whether the project then matches the version of its template: all parts were selected, or no part differs any more. */
function reachesVersion(project: ProjectAccess, { plan, drift, parts }: Omit<Application, 'state'>): boolean {
  if (parts.length === ALL_PARTS.length) return true;
  const left = remainingDifferences(drift, plan);
  // Does not reveal whether a part that the caller cannot read differs.
  return ALL_PARTS.every((part) => mayRead(project, part) && left[part].length === 0);
}

const NOTHING: Plan = { environments: [], roles: [], members: [], kept: [] };

interface ApplyOptions {
  readonly parts: readonly TemplatePart[];
  readonly removes: boolean;
  readonly dryRun: boolean;
}

interface Outcome extends ApplyOptions {
  readonly drift: Drift | null;
  readonly plan: Plan;
}

/** The changes to a project that has a template. */
interface Application extends Pick<Outcome, 'plan' | 'parts'> {
  readonly drift: Drift;
  readonly state: ProjectState;
}

function answer(project: ProjectAccess, { drift, plan, parts, dryRun }: Outcome): Applied {
  const { kept, ...changes } = plan;
  if (drift === null) return { isDryRun: dryRun, applied: null, left: null, kept };
  const after =
    !dryRun && reachesVersion(project, { plan, drift, parts }) ? { ...drift, version: drift.template.version } : drift;
  return {
    isDryRun: dryRun,
    applied: { ...after, ...changes },
    left: readable(project, withoutHidden(project, { ...after, ...remainingDifferences(drift, plan) })),
    kept,
  };
}

/** Parts that the caller cannot read are not shown. */
const withoutHidden = (project: ProjectAccess, left: Drift): Drift => ({
  ...left,
  environments: mayRead(project, 'environments') ? left.environments : [],
  roles: mayRead(project, 'roles') ? left.roles : [],
  members: mayRead(project, 'members') ? left.members : [],
});

const SUBJECTS = {
  environments: ['environments'],
  roles: ['role'],
  members: ['member', 'identity', 'groups'],
} as const satisfies Record<TemplatePart, readonly string[]>;

/** Runs before anything is looked up. @throws PERMISSION_DENIED */
function authorizeKinds(project: ProjectAccess, { parts, removes }: Pick<Outcome, 'parts' | 'removes'>): void {
  const verbs = removes ? (['create', 'edit', 'delete'] as const) : (['create', 'edit'] as const);
  for (const part of parts)
    for (const subject of SUBJECTS[part]) for (const verb of verbs) authorize(project, `${subject}:${verb}`);
}

const VERBS = { missing: 'create', additional: 'delete' } as const;
const verbOf = (difference: string): 'create' | 'edit' | 'delete' =>
  difference === 'missing' || difference === 'additional' ? VERBS[difference] : 'edit';

/** Callers cannot grant or remove rights that they do not have. @throws PERMISSION_DENIED, PERMISSION_BOUNDARY, ROLE_NOT_FOUND */
async function authorizePlan(
  tx: Transaction,
  project: ProjectAccess,
  { roles, members }: Plan,
  state: ProjectState,
): Promise<void> {
  for (const { difference, rules, templateRules } of roles) {
    // Deleting a role takes no rights away: no member has it.
    const [before, after] = [rules ?? [], templateRules ?? rules ?? []];
    const beyond = rightsBeyondChange(project.ability, before, after);
    const attempt = { action: `role:${verbOf(difference)}`, projectId: project.projectId } as const;
    if (beyond.length > 0) throw new PermissionDenied(attempt, beyond);
  }
  const rules = new Map<string, readonly Rule[]>([
    ...state.roles.map(({ slug, permissions }) => [slug, readStoredRules(permissions)] as const),
    ...roles.flatMap(({ slug, templateRules }) => (templateRules === null ? [] : [[slug, templateRules] as const])),
  ]);
  const present = new Map(state.members.map((member) => [member.memberId, member]));
  for (const member of members) authorizeMember(project, member);
  await authorizeMemberChanges(
    tx,
    project,
    members.map((member) => changeOf(member, present.get(member.memberId ?? ''))),
    rules,
  );
}

/** Checks the member itself in addition to its roles: rules have conditions on members. */
function authorizeMember(project: ProjectAccess, member: MemberDifference): void {
  const kind = subjectKindOf(member);
  const fields = fieldsOf(kind, namesOf(member));
  authorize(project, `${subjectOf(kind)}:${verbOf(member.difference)}`, fields);
  if (member.difference !== 'missing') authorize(project, `${subjectOf(kind)}:read`, fields);
}

function changeOf(member: MemberDifference, present: ProjectState['members'][number] | undefined): MemberChange {
  return {
    verb: verbOf(member.difference),
    target: { kind: subjectKindOf(member), names: namesOf(member) },
    placeOf: () => 'parts',
    unknownRole: 'must include ROLES, because members get a role that the project does not have yet',
    ...(present === undefined
      ? {}
      : {
          before: {
            slugs: present.roles,
            terms: (present.terms ?? null) as NonNullable<MemberChange['before']>['terms'],
          },
        }),
    ...(member.templateRoles === null ? {} : { after: { slugs: member.templateRoles, terms: null } }),
  };
}

/** The audit record of the update. */
const recordOf = ({ projectId }: ProjectAccess, { drift, plan, parts, removes, dryRun }: Outcome) => ({
  action: 'project-template:apply',
  projectId,
  facts: {
    templateId: drift?.template.id ?? null,
    templateVersion: drift?.template.version ?? null,
    parts: [...parts].sort(),
    removes,
    dryRun,
    environments: plan.environments.length,
    roles: plan.roles.length,
    members: plan.members.length,
    kept: plan.kept.length,
  },
});

/** Carries out a plan, in a number of statements that does not depend on its size. */
async function carryOut(
  tx: Transaction,
  { projectId, plan, state }: { readonly projectId: string; readonly plan: Plan; readonly state: ProjectState },
): Promise<void> {
  const made = await writeEnvironments(tx, {
    projectId,
    differences: plan.environments,
    present: state.environments.length,
  });
  if (made.length > 0) await createRootFolders(tx, made);
  await writeRoles(tx, projectId, plan.roles);
  await writeMembers(tx, projectId, plan.members);
  // No member has these roles any more.
  const slugs = partsOf(plan.roles).removed.map(({ slug }) => slug);
  if (slugs.length > 0) await tx.em.nativeDelete(ProjectRole, { projectId, slug: { $in: slugs } });
}

const partsOf = <D extends { readonly difference: Difference }>(list: readonly D[]) => ({
  added: list.filter(({ difference }) => difference === 'missing'),
  changed: list.filter(({ difference }) => difference !== 'missing' && difference !== 'additional'),
  removed: list.filter(({ difference }) => difference === 'additional'),
});

/** @param present how many environments the project has @returns those that were added */
async function writeEnvironments(
  tx: Transaction,
  {
    projectId,
    differences,
    present,
  }: { readonly projectId: string; readonly differences: readonly EnvironmentDifference[]; readonly present: number },
): Promise<readonly { readonly id: string; readonly projectId: string }[]> {
  const { added, changed, removed } = partsOf(differences);
  const named = (list: readonly EnvironmentDifference[]) =>
    list.map(({ slug, templateName }) => ({ slug, name: templateName ?? slug }));
  if (removed.length > 0) {
    await tx.em.nativeDelete(Environment, { projectId, slug: { $in: removed.map(({ slug }) => slug) } });
    await closePositions(tx, { projectId });
  }
  if (changed.length > 0) await renameEnvironments(tx, { projectId, rows: JSON.stringify(named(changed)) });
  const last = present - removed.length;
  const { organizationId } = tx;
  const made = named(added).map((environment, at) => ({
    id: newId(),
    organizationId,
    projectId,
    ...environment,
    position: last + at + 1,
  }));
  if (made.length > 0) await tx.em.insertMany(Environment, made);
  return made;
}

async function writeRoles(tx: Transaction, projectId: string, differences: readonly RoleDifference[]): Promise<void> {
  const { added, changed } = partsOf(differences);
  const written = (list: readonly RoleDifference[]) =>
    list.map(({ slug, templateName, templateRules }) => ({
      slug,
      name: templateName ?? slug,
      rules: templateRules ?? [],
    }));
  if (changed.length > 0) await updateRoles(tx, { projectId, rows: JSON.stringify(written(changed)) });
  await insertRoles(tx, projectId, written(added));
}

async function writeMembers(
  tx: Transaction,
  projectId: string,
  differences: readonly MemberDifference[],
): Promise<void> {
  const { added, changed, removed } = partsOf(differences);
  const joining = added.map((member) => ({
    kind: subjectKindOf(member),
    id: member.memberId ?? newId(),
    name: member.name,
    isMade: member.memberId === null,
    roles: member.templateRoles ?? [],
  }));
  await insertIdentities(
    tx,
    projectId,
    joining.filter(({ isMade }) => isMade),
  );
  await insertMembers(tx, projectId, joining);
  const members = changed.map(({ memberId, templateRoles: roles }) => ({ memberId, roles }));
  if (members.length > 0) await updateMembers(tx, { projectId, rows: JSON.stringify(members) });
  const memberIds = removed.flatMap(({ memberId }) => memberId ?? []);
  if (memberIds.length === 0) return;
  const any = { $in: memberIds };
  await tx.em.nativeDelete(ProjectMembership, {
    projectId,
    $or: [{ userId: any }, { identityId: any }, { groupId: any }],
  });
}
