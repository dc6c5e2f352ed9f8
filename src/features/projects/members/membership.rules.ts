import * as z from 'zod';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/text-rules.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { roleSlug } from '../roles/role.rules.js';
import { isEachOnce, MAX_ROLES, ROLE_TWICE, type RoleAssignment, RoleAssignments } from './role-terms.rules.js';

/** Kinds of members. */
export const MEMBER_KINDS = ['user', 'identity', 'group'] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

/** Roles of a member, each once: built-in ones and those of the project. The order matters: see `rulesOfRoles`. */
export const RoleSlugs = z.array(roleSlug).min(1).max(MAX_ROLES).refine(isEachOnce, ROLE_TWICE);

const projectId = idOf('project');
/** Kind of the member: its GraphQL enum is declared next to the types. */
export const memberKind = z.enum(MEMBER_KINDS);

/** A member of a project: input of `removeProjectMember`, and arguments of `projectMembership`. */
export const MemberKey = z
  .strictObject({
    projectId,
    memberKind: memberKind.meta({ description: 'Kind of the member.' }),
    memberId: idOf(
      'ID of the user, identity or group, or ID of its membership in the project. A user can also be given by its username, a group by its slug, or by its name if no other group has it.',
    ),
  })
  .meta({ description: 'The project and the member.' });

/** Arguments of `projectMembershipById`. */
export const MembershipById = z.strictObject({
  id: idOf('The membership.'),
  memberKind: memberKind.nullish().meta({ description: 'Finds only memberships of this kind of members.' }),
});

const ALL_ROLES =
  'Slugs of 1 to 10 roles, each once: `admin`, `member`, `viewer`, `no-access`, and custom roles of the project. ' +
  'Built-in roles are evaluated first, then the others in order; later rules win.';

const assignments = RoleAssignments.nullish().meta({
  description: 'The same as `roles`, with an optional term for each role. Set only one of the two.',
});
const isOneGiven = ({ roles, roleAssignments }: { roles?: unknown; roleAssignments?: unknown }): boolean =>
  (roles == null) !== (roleAssignments == null);
const EITHER = {
  ...EVEN_IF_INVALID,
  path: ['roles'],
  error: 'required unless roleAssignments is set; set only one of them',
};
const rolesOf = (description: string) => ({
  roles: RoleSlugs.nullish().meta({ description }),
  roleAssignments: assignments,
});

/** Input of `addProjectMember`. */
export const AddMember = MemberKey.extend(rolesOf(`Slugs of ${ALL_ROLES}`))
  .refine(isOneGiven, EITHER)
  .meta({ description: 'The member of the organization to add to the project, and the roles to assign.' });

/** Input of `updateProjectMember`. */
export const UpdateMember = MemberKey.extend(rolesOf('Slugs of 1 to 10 roles, each once. Replaces the existing roles.'))
  .refine(isOneGiven, EITHER)
  .meta({ description: 'The member and the new roles.' });

/** Maximum number of users that one call adds. */
const MAX_USERNAMES = 100;
const username = z.string().trim().min(1).max(255);
export const usernames = z.array(username).max(MAX_USERNAMES);

const namedUsers = usernames
  .min(1)
  .refine(isEachOnce, { ...EVEN_IF_INVALID, error: 'must not repeat a user' })
  .meta({ description: 'Usernames, 1 to 100, each once.' });

/** Input of `addProjectUsers`. */
export const AddUsers = z
  .strictObject({
    projectId,
    usernames: namedUsers,
    ...rolesOf('Slugs of 1 to 10 roles, each once, to assign to all of them.'),
  })
  .refine(isOneGiven, EITHER)
  .meta({ description: 'The users of the organization to add to the project, by username, and the roles to assign.' });

/** Arguments of `Project.memberConnection`. */
export const MemberPage = z.strictObject({ ...pageRules, ...orderRules });

/** Arguments of the list of members. */
export const ListMembers = MemberPage.extend({
  projectId,
  memberKind: memberKind
    .nullish()
    .meta({ description: 'Only members of this kind: users, machine identities or groups.' }),
});

/** Input of `removeProjectUsers`. */
export const RemoveUsers = z
  .strictObject({ projectId, usernames: namedUsers })
  .meta({ description: 'The users to remove from a project, by name.' });

/** Roles in the form of an input. */
export interface RolesGiven {
  readonly roles?: readonly string[] | null | undefined;
  readonly roleAssignments?: readonly RoleAssignment[] | null | undefined;
}

/** The same in one form. */
export const assignmentsOf = ({ roles, roleAssignments }: RolesGiven): readonly RoleAssignment[] =>
  roleAssignments ?? (roles ?? []).map((slug) => ({ roleSlug: slug }));

/** Path of a role in the input. */
export const placeOf = ({ roleAssignments }: RolesGiven, index: number): string =>
  roleAssignments == null ? `roles[${index}]` : `roleAssignments[${index}].roleSlug`;

const SUBJECTS = { user: 'member', identity: 'identity', group: 'groups' } as const;
/** Subjects of rules about members. */
export type MemberSubject = (typeof SUBJECTS)[MemberKind];

/** The subject of permission rules that covers a kind of member. */
export const subjectOf = (kind: MemberKind): MemberSubject => SUBJECTS[kind];

/** The attributes for conditions of rules. @param member undefined: the organization has no such member */
export function fieldsOf(kind: MemberKind, member: MemberNames | undefined): Fields {
  if (member === undefined) return {};
  if (kind === 'user') return { username: member.name };
  return kind === 'identity' ? { identityId: member.memberId } : { groupSlug: member.groupSlug ?? '' };
}

/** Name of a member. */
export interface MemberNames {
  readonly memberId: string;
  readonly name: string;
  readonly groupSlug: string | null;
}
