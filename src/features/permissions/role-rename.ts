import { type Access, PermissionDenied, type Rule } from '../../kernel/authz/ability.js';
import { type ConditionOperators, type Conditions, compileConditions } from '../../kernel/authz/conditions.js';
import { mapInSlices } from '../../kernel/slices.js';
import type { Vocabulary } from './actions.js';
import { namesAttributes } from './attributes.js';
import { rightsBeyondChange } from './boundary.js';
import { readStoredRules } from './stored-rules.js';

/** A role gets another slug. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/** What becomes of stored rules. */
interface RenamedIn {
  /** As they are to be stored, also what this version cannot read. */
  readonly stored: unknown;
  readonly isChanged: boolean;
  /** Rules that select the role by one slug and not by the other all the same: by a pattern, an attribute, or the new slug before it was one. */
  readonly otherwise: readonly Rule[];
}

/** The rules of a role or a privilege as the database gave them. */
interface Stored {
  readonly id: string;
  readonly permissions: unknown;
}

/** Rules that changed, as JSON text, in the order of the ids of what they belong to. */
interface Replacements {
  readonly ids: readonly string[];
  readonly permissions: readonly string[];
}

/**
 * Carries the new slug of a role into the rules that name it. Where a rule would select the role by one slug and not by the other
 * all the same, that is a change of this rule.
 *
 * @param access the organization or the project, as the caller has it
 * @throws PERMISSION_BOUNDARY
 */
export async function replacedRules(
  access: Access,
  stored: readonly Stored[],
  rename: Rename,
  words: Vocabulary,
): Promise<Replacements> {
  const renamed = stored.map(({ id, permissions }) => ({ id, ...withRoleRenamed(permissions, rename, words) }));
  const beyond = await mapInSlices(
    renamed.flatMap(({ otherwise }) => otherwise),
    (rule) => rightsBeyondChange(access.ability, [rule], []),
  );
  if (beyond.flat().length > 0)
    throw new PermissionDenied({ action: 'role:edit', projectId: access.projectId ?? null }, [
      ...new Set(beyond.flat()),
    ]);
  const changed = renamed.filter(({ isChanged }) => isChanged);
  return { ids: changed.map(({ id }) => id), permissions: changed.map((each) => JSON.stringify(each.stored)) };
}

/**
 * Puts the new slug of a role in the place of the old one where conditions on `role` name it, so that rules mean the role that
 * they meant.
 *
 * @param stored the list of rules of one role as the database gave it
 */
function withRoleRenamed(stored: unknown, rename: Rename, words: Vocabulary): RenamedIn {
  if (!Array.isArray(stored)) return { stored, isChanged: false, otherwise: [] };
  const rules = stored.map((rule: unknown) => renamedRule(rule, rename));
  return {
    stored: rules,
    isChanged: JSON.stringify(rules) !== JSON.stringify(stored),
    otherwise: stored.flatMap((rule, at) => {
      const [before, after] = [readStoredRules([rule], words), readStoredRules([rules[at]], words)];
      return before.filter((each, place) => !selectsSame(each, after[place] as Rule, rename));
    }),
  };
}

function renamedRule(rule: unknown, rename: Rename): unknown {
  const { conditions } = (rule ?? {}) as { readonly conditions?: Conditions | null };
  const role = conditions?.role;
  return role === undefined
    ? rule
    : { ...(rule as object), conditions: { ...conditions, role: renamedCondition(role, rename) } };
}

function renamedCondition(condition: Conditions[string], { from, to }: Rename): Conditions[string] {
  const renamed = (text: unknown): unknown => (text === from ? to : text);
  if (typeof condition !== 'object' || condition === null) return renamed(condition) as string;
  // A pattern that is the slug itself names it too.
  const operators = Object.entries(condition).map(([name, operand]: [string, unknown]) => [
    name,
    Array.isArray(operand) ? [...new Set(operand.map(renamed))] : renamed(operand),
  ]);
  return Object.fromEntries(operators) as ConditionOperators;
}

/** Whether conditions on roles are the same for a role under two slugs. Attributes may be either for some holder. */
function selectsSame(before: Rule, after: Rule, { from, to }: Rename): boolean {
  const [old, now] = [before.conditions?.role, after.conditions?.role];
  if (old === undefined || now === undefined) return true;
  return !namesAttributes(old) && fits(old, from) === fits(now, to);
}

const fits = (condition: Conditions[string], role: string): boolean => compileConditions({ role: condition })({ role });
