import { can, PermissionDenied } from '../../../../kernel/authz/ability.js';
import type { Conditions } from '../../../../kernel/authz/conditions.js';
import type { Transaction } from '../../../../kernel/context.js';
import { selectsOtherwise } from '../../permissions/public.js';
import { listConditionsAt } from './boundary.sql.js';

/** Somebody gets another name, by which conditions on a field know it. */
interface NewName {
  readonly action: 'member:edit' | 'groups:edit';
  readonly field: 'username' | 'groupSlug';
  readonly from: string;
  readonly to: string;
}

/**
 * By another name somebody gets out of rules, or into others. Where any rule selects otherwise then, only who may rescue projects
 * gives the name, since that rule may be of a project that the caller does not know of.
 *
 * @throws PERMISSION_BOUNDARY
 */
export async function authorizeNewName(tx: Transaction, { action, field, from, to }: NewName): Promise<void> {
  if (from === to || can(tx.ability, 'workspace:rescue')) return;
  const place = { organizationId: tx.organizationId, path: `$[*].conditions.${field}` };
  const found = (await listConditionsAt(tx, place)) as readonly { readonly condition: Conditions[string] }[];
  const [subject = ''] = action.split(':');
  const rules = found.map(({ condition }) => ({ subject, action: 'edit', conditions: { [field]: condition } }));
  if (await selectsOtherwise(rules, [{ subject, before: { [field]: from }, after: { [field]: to } }]))
    throw new PermissionDenied({ action, projectId: null }, ['role:edit']);
}
