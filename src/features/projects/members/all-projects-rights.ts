import { type Action, can, type Rule } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { RowFrom } from '../../../kernel/database/statement.js';
import { abilityOf, readStoredRules, rightsBeyond, rulesOfRoles } from '../../identity/permissions/public.js';
import { listRolesInAllProjects, lockRolesOfGroup } from './all-projects-rights.sql.js';

/** What a membership of all projects grants: its role, and rules that only allow. */
export const rulesInAllProjects = ({ role, permissions }: { role: string; permissions?: unknown }): Rule[] =>
  rulesOfRoles([role], permissions == null ? [] : [readStoredRules(permissions)]);

/**
 * Whether the caller may grant and revoke any right in all projects of an organization. As with templates, nobody has
 * rights in future projects yet: who may let an admin into any project needs none.
 */
const mayGrantAnything = ({ ability, organizationId }: Context, id: string): boolean =>
  can(ability, 'workspace:assign-role') &&
  can(ability, 'workspace:rescue') &&
  (id === organizationId || can(ability, 'sub-organization:edit'));

type Held = Pick<RowFrom<typeof listRolesInAllProjects>, 'organizationId' | 'role' | 'permissions' | 'termEndsAt'>;

/** @param end what the caller has must last as long; undefined: it must have it now */
function beyondOf(tx: Transaction, own: readonly Held[], end?: Date | null) {
  const lasting = own.filter(
    ({ termEndsAt: term }) => end === undefined || term === null || (end !== null && term.getTime() >= end.getTime()),
  );
  return (organizationId: string, rules: readonly Rule[]): Action[] => {
    if (mayGrantAnything(tx, organizationId)) return [];
    const held = lasting.filter((each) => each.organizationId === organizationId).flatMap(rulesInAllProjects);
    return rightsBeyond(abilityOf(held), rules);
  };
}

const rolesOf = (tx: Transaction, ...memberIds: readonly string[]) =>
  listRolesInAllProjects(tx, { organizationId: tx.organizationId, memberIds });

/** What accounts may do in all projects that the caller may not do there, in one statement: of those that may do more. */
export async function rightsBeyondInAllProjects(
  tx: Transaction,
  memberIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Action[]>> {
  const rows = await rolesOf(tx, ...memberIds, tx.actor.id);
  const byMember = Map.groupBy(rows, ({ memberId }) => memberId);
  const beyond = beyondOf(tx, byMember.get(tx.actor.id) ?? []);
  return new Map(
    memberIds.map((id) => [
      id,
      (byMember.get(id) ?? []).flatMap((row) => beyond(row.organizationId, rulesInAllProjects(row))),
    ]),
  );
}

/** What a group has in all projects and the caller has not. */
export async function rightsOfGroupBeyondInAllProjects(tx: Transaction, groupId: string): Promise<Action[]> {
  const held = await lockRolesOfGroup(tx, { groupId });
  if (held.length === 0) return [];
  const beyond = beyondOf(tx, await rolesOf(tx, tx.actor.id));
  return held.flatMap((row) => beyond(row.organizationId, rulesInAllProjects(row)));
}

/**
 * What the caller has not in all projects of its organization of what a membership had, or is to have.
 *
 * @param end of what it is to have, where that is for the caller itself: nobody extends its own term
 */
export async function rightsBeyondOwnInAllProjects(
  tx: Transaction,
  rules: readonly Rule[],
  end?: Date | null,
): Promise<Action[]> {
  return beyondOf(tx, await rolesOf(tx, tx.actor.id), end)(tx.organizationId, rules);
}
