import { type Ability, type Action, can, decidingRule } from '../../kernel/authz/ability.js';
import type { Fields } from '../../kernel/authz/conditions.js';
import { assignmentsOf } from './ability.js';

/** What rules are compiled to where they say this: no question is judged by the other words. */
const OTHER_WORDS: Readonly<Record<string, readonly Action[]>> = {
  'secrets:read': ['secrets:describeSecret', 'secrets:readValue'],
  'project:create': ['workspace:create'],
};

/** The actions that a question is about. */
export const actionsAsked = (action: Action): readonly Action[] => OTHER_WORDS[action] ?? [action];

/** An ability as requests that do this are judged by it. */
const judgingBy = (own: Ability, action: Action): Ability => (/:assign-/.test(action) ? assignmentsOf(own) : own);

/** Whether rules allow what is asked about. */
export const answerOf = (own: Ability, action: Action, fields?: Fields): boolean =>
  actionsAsked(action).every((each) => can(judgingBy(own, each), each, fields));

/** Place of the rule that decides about one of `actionsAsked`; null when none fits. */
export const ruleAsked = (own: Ability, action: Action, fields?: Fields): number | null =>
  decidingRule(judgingBy(own, action), action, fields);
