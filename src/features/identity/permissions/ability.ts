import { type Ability, buildAbility, type Rule, rulesOf } from '../../../kernel/authz/ability.js';

/** Compiles the rules of one caller. Later rules win over earlier ones. */
export const abilityOf = (rules: readonly Rule[]): Ability => buildAbility(rules.map(inNewerWords));

/**
 * `read` on secrets is the older name for both `describeSecret` and `readValue`; in an organization `project` is another
 * name for `workspace`.
 */
function inNewerWords(rule: Rule): Rule {
  if (rule.subject === 'project') return { ...rule, subject: 'workspace' };
  const actions = [rule.action].flat();
  if (rule.subject !== 'secrets' || !actions.includes('read')) return rule;
  const others = actions.filter((action) => action !== 'read');
  return { ...rule, action: [...new Set([...others, 'describeSecret', 'readValue'])] };
}

/** The name for all assignments. */
export const GRANT_ACTION = 'grant-privileges';
const GRANTED = ['assign-role', 'assign-additional-privileges'] as const;

/**
 * `grant-privileges` means `assign-role` and `assign-additional-privileges` together, in rules that allow and in rules
 * that forbid.
 */
export function withAssignments(rule: Rule): Rule {
  const actions = [rule.action].flat();
  return actions.includes(GRANT_ACTION) ? { ...rule, action: [...new Set([...actions, ...GRANTED])] } : rule;
}

/** An ability in which assignments are checked by their own names. */
export const assignmentsOf = (own: Ability): Ability => buildAbility(rulesOf(own).map(withAssignments));
