import type { Access } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { PROJECT_VOCABULARY, type Rename, replacedRules } from '../../permissions/public.js';
import { lockRulesOfPrivileges, lockRulesOfRoles, replaceRulesOfPrivileges, replaceRulesOfRoles } from './role.sql.js';

/** Where rules of a project are stored. */
const STORED = [
  { lock: lockRulesOfRoles, replace: replaceRulesOfRoles },
  { lock: lockRulesOfPrivileges, replace: replaceRulesOfPrivileges },
] as const;

/**
 * Updates the slug of a role or an environment in the rules of roles and privileges that name it. The project is
 * locked, so that none of them changes concurrently.
 *
 * @param except ID of a role whose rules stay
 * @returns IDs of the roles and privileges that changed
 * @throws PERMISSION_DENIED, PERMISSION_BOUNDARY where a rule would still match differently
 */
export async function renameInRules(
  tx: Transaction,
  project: Access & { readonly projectId: string },
  rename: Rename,
  except: string | null,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { lock, replace } of STORED) {
    const stored = await lock(tx, { projectId: project.projectId, except, field: rename.field });
    const { ids, permissions } = await replacedRules(project, stored, rename, PROJECT_VOCABULARY);
    if (ids.length === 0) continue;
    await replace(tx, { ids, permissions });
    changed.push(...ids);
  }
  return changed;
}
