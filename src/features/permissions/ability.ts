import { type Ability, buildAbility, type Rule } from '../../kernel/authz/ability.js';

/** Compiles the rules of one caller. Later rules win over earlier ones. */
export const abilityOf = (rules: readonly Rule[]): Ability => buildAbility(rules.map(inNewerWords));

/** `read` of secrets is the older word for both `describeSecret` and `readValue`. */
function inNewerWords(rule: Rule): Rule {
  const actions = [rule.action].flat();
  if (rule.subject !== 'secrets' || !actions.includes('read')) return rule;
  const others = actions.filter((action) => action !== 'read');
  return { ...rule, action: [...new Set([...others, 'describeSecret', 'readValue'])] };
}
