import { type Ability, type Action, can, type Rule, rulesOf } from '../../../kernel/authz/ability.js';
import { compileConditions, type Fields } from '../../../kernel/authz/conditions.js';
import { abilityOf, assignmentsOf, GRANT_ACTION, withAssignments } from './ability.js';

/** The recipient of an assignment: the subject of rules about such members, and the fields for their conditions. */
export interface Assignee {
  readonly subject: 'member' | 'identity' | 'groups';
  /** `username`, `identityId` or `groupSlug`. */
  readonly fields: Fields;
}

/** What is assigned or revoked. */
export interface AssignableRights {
  readonly verb: 'assign-role' | 'assign-additional-privileges';
  /** Slug of the role. */
  readonly role?: string;
  /** Its rules. */
  readonly rules: readonly Rule[];
}

/**
 * Whether rules let their holder assign or revoke a role or a privilege of a member without the right to edit
 * memberships. Checked for each subject and action that it allows; the permission boundary is checked elsewhere.
 */
export function mayAssign(
  own: Ability,
  { subject, fields }: Assignee,
  { verb, role, rules }: AssignableRights,
): boolean {
  const action = `${subject}:${verb}` as Action;
  const given = { ...fields, ...(role === undefined ? {} : { role }) };
  const pairs = allowedBy(rules);
  const full = assignmentsOf(own);
  return (pairs.length === 0 ? [{}] : pairs).every((pair) => can(full, action, { ...given, ...pair }));
}

/** Whether rules let their holder assign anything to this member. Other callers learn nothing about the member. */
export function mayAssignTo(own: Ability, { subject, fields }: Assignee, verb: AssignableRights['verb']): boolean {
  const field = FIELD_OF[subject];
  return assignmentsOf(own)
    .rulesFor(verb, subject)
    .some(({ inverted, conditions }) => {
      const condition = (conditions as Parameters<typeof compileConditions>[0] | undefined)?.[field];
      return !inverted && (condition === undefined || compileConditions({ [field]: condition })(fields));
    });
}

const FIELD_OF = { member: 'username', identity: 'identityId', groups: 'groupSlug' } as const;

/** Each subject and action that rules allow, in the terms of conditions. */
function allowedBy(rules: readonly Rule[]): Fields[] {
  const pairs = rulesOf(abilityOf(rules))
    .filter(({ inverted }) => inverted !== true)
    .map(withAssignments)
    .flatMap(({ subject, action }) => [action].flat().map((verb) => ({ subject, action: inAllWords(subject, verb) })));
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()];
}

/** A condition on the name that covers several actions means each of them. */
function inAllWords(subject: string, action: string): string[] {
  if (subject === 'secrets' && ['describeSecret', 'readValue'].includes(action)) return [action, 'read'];
  return /^assign-/.test(action) ? [action, GRANT_ACTION] : [action];
}
