import { can, PermissionDenied } from '../../kernel/authz/ability.js';
import type { Transaction } from '../../kernel/context.js';
import { type FieldChange, selectsOtherwise } from '../permissions/public.js';
import { lockProject, type ProjectAccess } from './project.records.js';
import { rulesOfProject } from './role.records.js';

/**
 * Renaming or moving what rules name changes what the holders of these rules may do: that is a change of roles, whoever has
 * them. To be called at the end of the transaction, right before its audit record: that writes the row of the project too, so
 * that a role that is written at the same moment either is seen here or comes after the change.
 *
 * @param changesOf lists the changed fields that rules match on; called only if the caller may not edit roles
 * @throws PERMISSION_DENIED, which says nothing about the rule, unless the caller may edit roles or every rule selects the same
 */
export async function authorizeNewNames(
  tx: Transaction,
  project: ProjectAccess,
  changesOf: () => Promise<readonly FieldChange[]>,
): Promise<void> {
  if (can(project.ability, 'role:edit')) return;
  const changes = await changesOf();
  if (changes.length === 0) return;
  await lockProject(tx, project);
  if (await selectsOtherwise(await rulesOfProject(tx, project.projectId), changes))
    throw new PermissionDenied({ action: 'role:edit', projectId: project.projectId });
}
