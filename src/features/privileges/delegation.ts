import { type Ability, type Action, can, type Rule } from '../../kernel/authz/ability.js';
import type { Fields } from '../../kernel/authz/conditions.js';

/** Who gets something, and what conditions of rules look at. */
interface Assignee {
  readonly subject: 'member' | 'identity';
  readonly fields: Fields;
}

const VERBS = ['assign-additional-privileges', 'grant-privileges'] as const;

/** Whether rules let their holder hand these rules on to a member: asked for each subject and action that they allow. */
export function mayAssign(own: Ability, { subject, fields }: Assignee, rules: readonly Rule[]): boolean {
  const pairs = rules
    .filter(({ inverted }) => inverted !== true)
    .flatMap((rule) => [rule.action].flat().map((action) => ({ subject: rule.subject, action })));
  return (pairs.length === 0 ? [{}] : pairs).every((pair) =>
    VERBS.some((verb) => can(own, `${subject}:${verb}` as Action, { ...fields, ...pair })),
  );
}

/** Whether rules let their holder hand anything on to some member of a kind. */
export const mayAssignSome = (own: Ability, subject: Assignee['subject']): boolean =>
  VERBS.some((verb) => can(own, `${subject}:${verb}` as Action));
