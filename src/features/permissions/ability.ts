import { type Ability, buildAbility, type Rule, rulesOf } from '../../kernel/authz/ability.js';

/** Compiles the rules of one caller. Later rules win over earlier ones. */
export const abilityOf = (rules: readonly Rule[]): Ability => buildAbility(rules.map(inNewerWords));

/**
 * `read` of secrets is the older word for both `describeSecret` and `readValue`; in an organization `project` is another word for
 * `workspace`.
 */
function inNewerWords(rule: Rule): Rule {
  if (rule.subject === 'project') return { ...rule, subject: 'workspace' };
  const actions = [rule.action].flat();
  if (rule.subject !== 'secrets' || !actions.includes('read')) return rule;
  const others = actions.filter((action) => action !== 'read');
  return { ...rule, action: [...new Set([...others, 'describeSecret', 'readValue'])] };
}

/** The word for all assignments. */
export const GRANT = 'grant-privileges';
const GRANTED = ['assign-role', 'assign-additional-privileges'] as const;

/** `grant-privileges` stands for `assign-role` and `assign-additional-privileges` together, whether a rule allows or forbids it. */
export function withAssignments(rule: Rule): Rule {
  const actions = [rule.action].flat();
  return actions.includes(GRANT) ? { ...rule, action: [...new Set([...actions, ...GRANTED])] } : rule;
}

/** An ability in which assignments are judged by their own names. */
export const assignmentsOf = (own: Ability): Ability => buildAbility(rulesOf(own).map(withAssignments));
