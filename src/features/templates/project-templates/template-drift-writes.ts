import type { Transaction } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { type CreateRootFolders, Environment, ProjectMembership, ProjectRole } from '../../projects/public.js';
import { insertIdentities, insertMembers, insertRoles } from './template-application.js';
import { kindOf } from './template-drift.js';
import { closePositions, renameEnvironments, updateMembers, updateRoles } from './template-drift.queries.js';
import type {
  Difference,
  EnvironmentDifference,
  MemberDifference,
  Plan,
  ProjectState,
  RoleDifference,
} from './template-drift.rules.js';

/** Carries out a plan, in a number of statements that does not depend on its size. */
export async function carryOut(
  tx: Transaction,
  { projectId, plan, state }: { readonly projectId: string; readonly plan: Plan; readonly state: ProjectState },
  createRootFolders: CreateRootFolders,
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
    kind: kindOf(member),
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
