import type { Ability, Rule } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { projectRights, readStoredRules, rulesOfRoles } from '../../permissions/public.js';

/** What a group has in its projects, without ended terms and with terms that have not begun. */
const OF_GROUP = `select m.project_id as "projectId", held.roles,
    (select json_agg(r.permissions order by array_position(held.roles, r.slug))
     from project_role r where r.project_id = m.project_id and r.slug = any(held.roles)) as "storedRules",
    (select json_agg(v.permissions order by v.created_at, v.id) from additional_privilege v
     where v.membership_id = m.id and (v.ends_at is null or now() < v.ends_at)) as privileges
  from project_membership m cross join lateral (
    select array(select role from unnest(m.roles) role
      where not coalesce(m.role_terms ? role, false) or now() < (m.role_terms -> role ->> 'endsAt')::timestamptz) as roles) held
  where m.group_id = $1 order by m.id for share of m`;

const NO_RIGHTS = projectRights({ roles: [], storedRules: null }).ability;

interface HeldByGroup {
  readonly projectId: string;
  readonly roles: readonly string[];
  /** Rules of each custom role and of each privilege; null for none. */
  readonly storedRules: readonly unknown[] | null;
  readonly privileges: readonly unknown[] | null;
}

/** What a group grants in a project, and what the caller may do there. */
export interface GroupRights {
  readonly rules: readonly Rule[];
  readonly own: Ability;
}

/** As `ProjectReader.rightsOfGroup` says. */
export async function rightsOfGroup(tx: Transaction, groupId: string): Promise<GroupRights[]> {
  const held = await query<HeldByGroup>(tx, OF_GROUP, [groupId]);
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
