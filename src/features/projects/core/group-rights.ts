import type { Ability, Rule } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { projectRights, readStoredRules, rulesOfRoles } from '../../permissions/public.js';
import { lockHeldByGroup } from './project.sql.js';

const NO_RIGHTS = projectRights({ roles: [], storedRules: null }).ability;

/** What a group grants in a project, and what the caller may do there. */
export interface GroupRights {
  readonly rules: readonly Rule[];
  readonly own: Ability;
}

/** As `ProjectReader.rightsOfGroup` says. */
export async function rightsOfGroup(tx: Transaction, groupId: string): Promise<GroupRights[]> {
  const held = await lockHeldByGroup(tx, { groupId });
  const ids = held.map(({ projectId }) => projectId);
  const accesses = ids.length === 0 ? [] : await tx.accessesOf(tx, tx.actor.id, ids);
  const own = new Map(accesses.map(({ projectId, ability }) => [projectId, ability]));
  return held.map(({ projectId, roles, storedRules, privileges }) => ({
    rules: rulesOfRoles(
      roles,
      [...(storedRules ?? []), ...(privileges ?? [])].map((stored) => readStoredRules(stored)),
    ),
    own: own.get(projectId) ?? NO_RIGHTS,
  }));
}
