import { z } from 'zod';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, isStorable, NOT_STORABLE } from '../../../kernel/text-rules.js';
import { EVEN_IF_FAULTY } from '../../../kernel/validation.js';
import {
  isEachOnce,
  MAX_ROLES,
  ROLE_TWICE,
  type RoleAssignment,
  RoleAssignments,
  roleSlug,
} from './role-terms.rules.js';

/** Who can be a member. */
export const MEMBER_KINDS = ['user', 'identity', 'group'] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

/** Roles of a member, each once: built-in ones and those of the project. The order counts: see `rulesOfRoles`. */
export const RoleSlugs = z.array(roleSlug).min(1).max(MAX_ROLES).refine(isEachOnce, ROLE_TWICE);

const projectId = idOf('project');
/** Who it is: its enum in GraphQL stands beside the types. */
export const memberKind = z.enum(MEMBER_KINDS);

/** A member of a project: input of `removeProjectMember`, and arguments of `projectMembership`. */
export const MemberKey = z
  .strictObject({
    projectId,
    memberKind: memberKind.meta({ description: 'Who it is.' }),
    memberId: idOf(
      'ID of the user, identity or group; of a group its slug will do, and its name where no other has it.',
    ),
  })
  .meta({ description: 'A member of a project.' });

const ALL_ROLES =
  '1 to 10 roles, each once: `admin`, `member`, `viewer`, `no-access`, and roles of the project. The built-in ones come first, whatever the order; later rules win.';

const assignments = RoleAssignments.nullish().meta({
  description: 'As `roles`, each for good or for a time. Give one of the two.',
});
const isOneGiven = ({ roles, roleAssignments }: { roles?: unknown; roleAssignments?: unknown }): boolean =>
  (roles == null) !== (roleAssignments == null);
const EITHER = { ...EVEN_IF_FAULTY, path: ['roles'], error: 'must be given, or else roleAssignments, not both' };
const rolesOf = (description: string) => ({
  roles: RoleSlugs.nullish().meta({ description }),
  roleAssignments: assignments,
});

/** Input of `addProjectMember`. */
export const AddMember = MemberKey.extend(rolesOf(`Slugs of ${ALL_ROLES}`))
  .refine(isOneGiven, EITHER)
  .meta({ description: 'Who of the organization joins a project, and as what.' });

/** Input of `updateProjectMember`. */
export const UpdateMember = MemberKey.extend(
  rolesOf('Slugs of 1 to 10 roles, each once. They replace the ones before.'),
)
  .refine(isOneGiven, EITHER)
  .meta({ description: 'The roles that a member has from now on.' });

/** How many users one call can add. */
const MAX_USERNAMES = 100;
const username = z.string().trim().min(1).max(255).refine(isStorable, NOT_STORABLE);
export const usernames = z.array(username).max(MAX_USERNAMES);

/** Input of `addProjectUsers`. */
export const AddUsers = z
  .strictObject({
    projectId,
    usernames: usernames
      .min(1)
      .refine(isEachOnce, { ...EVEN_IF_FAULTY, error: 'must name each user once' })
      .meta({ description: 'Usernames, 1 to 100, each once.' }),
    ...rolesOf('Slugs of 1 to 10 roles, each once, for all of them.'),
  })
  .refine(isOneGiven, EITHER)
  .meta({ description: 'Which users of the organization join a project, by name, and as what.' });

/** Arguments of the list of members. */
export const ListMembers = z.strictObject({
  projectId,
  memberKind: memberKind.nullish().meta({ description: 'Only people, only machine identities, or only groups.' }),
  ...pageRules,
  ...orderRules,
});

/** Roles as an input gives them. */
export interface RolesGiven {
  readonly roles?: readonly string[] | null | undefined;
  readonly roleAssignments?: readonly RoleAssignment[] | null | undefined;
}

/** The same in one form. */
export const assignmentsOf = ({ roles, roleAssignments }: RolesGiven): readonly RoleAssignment[] =>
  roleAssignments ?? (roles ?? []).map((slug) => ({ roleSlug: slug }));

/** Where a role stands in the input. */
export const placeOf = ({ roleAssignments }: RolesGiven, index: number): string =>
  roleAssignments == null ? `roles[${index}]` : `roleAssignments[${index}].roleSlug`;

const SUBJECTS = { user: 'member', identity: 'identity', group: 'groups' } as const;
/** Subjects of rules about members. */
export type MemberSubject = (typeof SUBJECTS)[MemberKind];

/** The subject of rules that a kind of member belongs to. */
export const subjectOf = (kind: MemberKind): MemberSubject => SUBJECTS[kind];

/** What conditions of rules look at. @param member undefined: there is none that the organization knows */
export function fieldsOf(kind: MemberKind, member: MemberNames | undefined): Fields {
  if (member === undefined) return {};
  if (kind === 'user') return { username: member.name };
  return kind === 'identity' ? { identityId: member.memberId } : { groupSlug: member.groupSlug ?? '' };
}

/** What a member is called. */
export interface MemberNames {
  readonly memberId: string;
  readonly name: string;
  readonly groupSlug: string | null;
}
