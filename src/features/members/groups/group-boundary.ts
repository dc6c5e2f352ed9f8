import { type Action, authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { boundaryOfCaller } from '../../identity/organizations/public.js';
import {
  ORGANIZATION_ACTIONS,
  ORGANIZATION_VOCABULARY,
  readRulesText,
  rightsBeyondChange,
  rulesOfOrganizationRoles,
} from '../../identity/permissions/public.js';
import { type ProjectReader, rightsOfGroupBeyondInAllProjects } from '../../projects/public.js';
import { lockRoles } from './group.queries.js';

/**
 * Whoever takes somebody into a group gives all that the group has: its roles in organizations, the linked ones too, and in
 * projects. What these forbid, joining takes from its members, and leaving gives back to them. Nobody gives or takes more than
 * it has itself there, also when the whole group changes or ends. The roles are locked until the transaction ends.
 *
 * @param action what the caller does: for the audit record of a refusal
 * @throws PERMISSION_BOUNDARY, naming what is missing
 */
export async function authorizeRightsOfGroup(
  tx: Transaction,
  projects: ProjectReader,
  { groupId, action }: { readonly groupId: string; readonly action: Action },
): Promise<void> {
  const locked = await lockRoles(tx, { groupId });
  const beyondIn = await boundaryOfCaller(tx);
  const inOrganizations = locked.flatMap(({ organizationId, role, permissions }) => {
    const rules = rulesOfOrganizationRoles([role], [readRulesText(permissions, ORGANIZATION_VOCABULARY)]);
    return beyondIn(organizationId, (own) => rightsBeyondChange(own, rules, []));
  });
  const inProjects = await mapYielding(await projects.rightsOfGroup(tx, groupId), ({ own, rules }) =>
    rightsBeyondChange(own, rules, []),
  );
  const inAll = await rightsOfGroupBeyondInAllProjects(tx, groupId);
  const beyond = [...new Set([...inOrganizations, ...inProjects.flat(), ...inAll])];
  if (beyond.length > 0) throw new PermissionDenied({ action, projectId: null }, beyond);
}

/**
 * Rules can be about the slug: whoever may not change the group as it will be does not make it so, and nobody comes to do more
 * with a group by renaming it.
 *
 * @throws PERMISSION_DENIED
 */
export function authorizeNewSlug(tx: Transaction, { from, to }: { readonly from: string; readonly to: string }): void {
  authorize(tx, 'groups:edit', { groupSlug: to });
  for (const verb of ORGANIZATION_ACTIONS.groups)
    if (can(tx.ability, `groups:${verb}`, { groupSlug: to })) authorize(tx, `groups:${verb}`, { groupSlug: from });
}
