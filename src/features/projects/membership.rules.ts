import { z } from 'zod';
import { type Ability, type Action, can } from '../../kernel/authz/ability.js';
import { builtInProjectRoles, PROJECT_ROLES } from '../../kernel/authz/roles.js';
import { pageRules } from '../../kernel/graphql/page.js';

/** Who can be a member. */
export const MEMBER_KINDS = ['user', 'identity'] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

/** Whether no word comes twice. */
export const isEachOnce = (words: readonly string[]): boolean => new Set(words).size === words.length;

/** What a list of roles breaks that names one twice. */
export const ROLE_TWICE = { error: 'must name each role once' };

/** Roles of a member: 1 to 4 of the built-in ones, each once. */
export const RoleSlugs = z.array(z.enum(PROJECT_ROLES)).min(1).max(PROJECT_ROLES.length).refine(isEachOnce, ROLE_TWICE);

/** A member of a project, as the one key of all membership verbs. */
export const MemberKey = z.strictObject({
  projectId: z.string(),
  memberKind: z.enum(MEMBER_KINDS),
  memberId: z.string(),
});

/** Input of `addProjectMember` and `updateProjectMember`. Source: behaviour 10 (Identity in project). */
export const MemberRoles = MemberKey.extend({ roles: RoleSlugs });

/** Arguments of the list of members. */
export const ListMembers = z.strictObject({
  projectId: z.string(),
  memberKind: z.enum(MEMBER_KINDS).nullish(),
  ...pageRules,
});

/** The subject of rules that a kind of member belongs to. Source: behaviour 2. */
export const subjectOf = (kind: MemberKind): 'member' | 'identity' => (kind === 'user' ? 'member' : 'identity');

/**
 * True when these roles allow something that the ability does not: whoever grants them, or touches their holder, would
 * reach beyond its own rights.
 */
export function exceeds(ability: Ability, roles: readonly string[]): boolean {
  return builtInProjectRoles()
    .filter(({ slug }) => roles.includes(slug))
    .flatMap(({ rules }) => rules)
    .some(({ subject, action }) => [action].flat().some((verb) => !can(ability, `${subject}:${verb}` as Action)));
}
