import { type Ability, type Action, can, decidingRule } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { assignmentsOf } from './ability.js';

/** The names that rules are compiled to: no rule is evaluated by the other names. */
const OTHER_WORDS: Readonly<Record<string, readonly Action[]>> = {
  'secrets:read': ['secrets:describeSecret', 'secrets:readValue'],
  'project:create': ['workspace:create'],
};

/** The actions of a check. */
export const checkedActions = (action: Action): readonly Action[] => OTHER_WORDS[action] ?? [action];

/** An ability in the form that authorizes requests with these actions. */
const judgingBy = (own: Ability, action: Action): Ability => (/:assign-/.test(action) ? assignmentsOf(own) : own);

/** Whether rules allow the checked actions. */
export const isAllowed = (own: Ability, action: Action, fields?: Fields): boolean =>
  checkedActions(action).every((each) => can(judgingBy(own, each), each, fields));

/** Position of the rule that decides about one of `checkedActions`; null when none matches. */
export const decidingRuleOf = (own: Ability, action: Action, fields?: Fields): number | null =>
  decidingRule(judgingBy(own, action), action, fields);
