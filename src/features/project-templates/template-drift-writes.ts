import type { Transaction } from '../../kernel/context.js';
import { newId } from '../../kernel/ids.js';
import type { CreateRootFolders } from '../projects/public.js';
import {
  INSERT_IDENTITIES,
  INSERT_MEMBERS,
  INSERT_ORGANIZATION_MEMBERS,
  INSERT_ROLES,
} from './template-application.sql.js';
import { kindOf } from './template-drift.js';
import type {
  Difference,
  EnvironmentDifference,
  MemberDifference,
  Plan,
  RoleDifference,
} from './template-drift.rules.js';
import {
  ADD_ENVIRONMENTS,
  CLOSE_POSITIONS,
  DELETE_ENVIRONMENTS,
  DELETE_MEMBERS,
  DELETE_ROLES,
  RENAME_ENVIRONMENTS,
  UPDATE_MEMBERS,
  UPDATE_ROLES,
} from './template-drift.sql.js';

/** Carries out a plan, in a number of statements that does not depend on its size. */
export async function carryOut(
  tx: Transaction,
  { projectId, plan }: { readonly projectId: string; readonly plan: Plan },
  createRootFolders: CreateRootFolders,
): Promise<void> {
  await writeEnvironments(tx, projectId, plan.environments, createRootFolders);
  await writeRoles(tx, projectId, plan.roles);
  await writeMembers(tx, projectId, plan.members);
  // No member has these roles any more.
  const slugs = partsOf(plan.roles).removed.map(({ slug }) => slug);
  if (slugs.length > 0) await DELETE_ROLES(tx, { projectId, slugs });
}

const partsOf = <D extends { readonly difference: Difference }>(list: readonly D[]) => ({
  added: list.filter(({ difference }) => difference === 'missing'),
  changed: list.filter(({ difference }) => difference !== 'missing' && difference !== 'additional'),
  removed: list.filter(({ difference }) => difference === 'additional'),
});

async function writeEnvironments(
  tx: Transaction,
  projectId: string,
  differences: readonly EnvironmentDifference[],
  createRootFolders: CreateRootFolders,
): Promise<void> {
  const { added, changed, removed } = partsOf(differences);
  const named = (list: readonly EnvironmentDifference[]) =>
    list.map(({ slug, templateName: name }) => ({ slug, name }));
  if (removed.length > 0) {
    await DELETE_ENVIRONMENTS(tx, { projectId, slugs: removed.map(({ slug }) => slug) });
    await CLOSE_POSITIONS(tx, { projectId });
  }
  if (changed.length > 0) await RENAME_ENVIRONMENTS(tx, { projectId, environments: JSON.stringify(named(changed)) });
  if (added.length > 0) {
    const made = named(added).map((environment) => ({ id: newId(), projectId, ...environment }));
    const { organizationId } = tx;
    await ADD_ENVIRONMENTS(tx, { organizationId, projectId, environments: JSON.stringify(made) });
    await createRootFolders(tx, made);
  }
}

async function writeRoles(tx: Transaction, projectId: string, differences: readonly RoleDifference[]): Promise<void> {
  const { added, changed } = partsOf(differences);
  const written = (list: readonly RoleDifference[]): string =>
    JSON.stringify(list.map(({ slug, templateName: name, templateRules: rules }) => ({ slug, name, rules })));
  if (changed.length > 0) await UPDATE_ROLES(tx, { projectId, roles: written(changed) });
  if (added.length > 0) await INSERT_ROLES(tx, { organizationId: tx.organizationId, projectId, roles: written(added) });
}

async function writeMembers(
  tx: Transaction,
  projectId: string,
  differences: readonly MemberDifference[],
): Promise<void> {
  const { organizationId } = tx;
  const { added, changed, removed } = partsOf(differences);
  const made = added.filter(({ memberId }) => memberId === null).map((member) => ({ ...member, memberId: newId() }));
  if (made.length > 0) {
    const identities = JSON.stringify(made.map(({ memberId: id, name }) => ({ id, name })));
    await INSERT_IDENTITIES(tx, { organizationId, projectId, identities });
    await INSERT_ORGANIZATION_MEMBERS(tx, { organizationId, identityIds: made.map(({ memberId }) => memberId) });
  }
  const joining = [...made, ...added.filter(({ memberId }) => memberId !== null)].map((member) => ({
    [`${kindOf(member)}Id`]: member.memberId,
    roles: member.templateRoles,
  }));
  if (joining.length > 0) await INSERT_MEMBERS(tx, { organizationId, projectId, members: JSON.stringify(joining) });
  const members = changed.map(({ memberId, templateRoles: roles }) => ({ memberId, roles }));
  if (members.length > 0) await UPDATE_MEMBERS(tx, { projectId, members: JSON.stringify(members) });
  const memberIds = removed.flatMap(({ memberId }) => memberId ?? []);
  if (memberIds.length > 0) await DELETE_MEMBERS(tx, { projectId, memberIds });
}
