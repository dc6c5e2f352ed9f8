import { type Action, can, PermissionDenied, type Rule } from '../../../kernel/authz/ability.js';
import type { Transaction } from '../../../kernel/context.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import {
  type FieldChange,
  matchesOtherResources,
  PROJECT_ACTIONS,
  readStoredRules,
  rightsBeyond,
  rightsBeyondChange,
} from '../../identity/permissions/public.js';
import { lockProject } from '../core/find-projects.js';
import type { ProjectAccess } from '../core/project-access.js';
import { listRulesOfProject } from './role.queries.js';

/**
 * Renaming or moving something that rules name changes what the holders of these rules may do: it counts as a change of
 * roles. To be called at the end of the transaction, right before its audit record: that writes the row of the project
 * too, so that a role written concurrently is either seen here or comes after the change.
 *
 * @param changesOf lists the changed fields that rules match on
 * @throws PERMISSION_DENIED, which reveals nothing about the rule, unless the caller may edit roles or every rule
 * matches the same; PERMISSION_BOUNDARY where a rule that matches differently allows, or forbids, more than the caller
 * may
 */
export async function authorizeNewNames(
  tx: Transaction,
  project: ProjectAccess,
  changesOf: () => Promise<readonly FieldChange[]>,
): Promise<void> {
  const mayEdit = can(project.ability, 'role:edit');
  if (mayEdit && holdsAll(project)) return;
  const changes = await changesOf();
  if (changes.length === 0) return;
  await lockProject(tx, project);
  const stored = await listRulesOfProject(tx, { projectId: project.projectId });
  const rules = stored.flatMap(({ permissions }) => readStoredRules(permissions));
  const attempt = { action: 'role:edit', projectId: project.projectId } as const;
  if (!mayEdit) {
    if (await matchesOtherResources(rules, changes)) throw new PermissionDenied(attempt);
    return;
  }
  const beyond = await beyondAmong(project, rules, changes);
  if (beyond.length > 0) throw new PermissionDenied(attempt, beyond);
}

/** The names of locations and tags that rules of a project match on. */
const NAMED = ['secrets', 'secret-folders', 'secret-imports'] as const;

/** Whether no rule can exceed the caller's rights: the caller may do everything with items of such names. */
const holdsAll = ({ ability }: ProjectAccess): boolean =>
  rightsBeyond(
    ability,
    NAMED.map((subject) => ({ subject, action: [...PROJECT_ACTIONS[subject]] })),
  ).length === 0;

/** What rules that match differently allow or forbid and the caller may not do. */
async function beyondAmong(
  { ability }: ProjectAccess,
  rules: readonly Rule[],
  changes: readonly FieldChange[],
): Promise<Action[]> {
  const subjects = new Set(changes.map(({ subject }) => subject));
  const concerned = rules.filter(({ subject, conditions }) => conditions !== undefined && subjects.has(subject));
  const distinct = [...new Map(concerned.map((rule) => [JSON.stringify(rule), rule])).values()];
  const actions = await mapYielding(distinct, (rule) => rightsBeyondChange(ability, [rule], []));
  const going = distinct.flatMap((rule, at) => (actions[at]?.length ? [{ rule, actions: actions[at] }] : []));
  const isAny = await matchesOtherResources(
    going.map(({ rule }) => rule),
    changes,
  );
  if (!isAny) return [];
  // One by one, for the details of the error.
  const beyond = new Set<Action>();
  for (const { rule, actions: missing } of going)
    if (await matchesOtherResources([rule], changes)) for (const action of missing) beyond.add(action);
  return [...beyond];
}
