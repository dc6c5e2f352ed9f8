import * as z from 'zod';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { onConflict, termWanted } from '../../../kernel/graphql/creation.js';
import { orderRules } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID, textsOfField } from '../../../kernel/validation.js';
import { idOf } from '../../../kernel/value-rules.js';
import { endOfTerm, termRange, termStart } from '../../identity/permissions/public.js';
import type { RoleTerm } from '../core/membership.entity.js';
import { roleSlug } from '../roles/role.rules.js';

/** Maximum number of roles of a member. */
export const MAX_ROLES = 10;

/** Whether no word occurs twice. */
export const isEachOnce = (words: readonly string[]): boolean => new Set(words).size === words.length;

/** The rule that a list with a duplicate role violates. */
export const ROLE_TWICE = { ...EVEN_IF_INVALID, error: 'must not repeat a role' };

/** One role of a member, permanent or temporary. */
export const RoleAssignment = z
  .strictObject({
    roleSlug: roleSlug.meta({ description: 'Slug of the role, for example `viewer`.' }),
    range: termRange.nullish().meta({
      description: 'Duration of the assignment: `30m`, `2h`, `7d` or `4w`, at most 10 years. Permanent when absent.',
    }),
    startsAt: termStart
      .nullish()
      .meta({ description: 'When the assignment starts. Requires `range`; starts now when absent.' }),
  })
  .refine(({ range, startsAt }) => range != null || startsAt == null, {
    ...EVEN_IF_INVALID,
    path: ['range'],
    error: 'required with startsAt',
  })
  .meta({ description: 'A role to assign, permanently or temporarily.' });
export type RoleAssignment = Pick<z.output<typeof RoleAssignment>, 'roleSlug'> &
  Partial<Omit<z.output<typeof RoleAssignment>, 'roleSlug'>>;

/** Roles of a member, each once. */
const RoleAssignments = z
  .array(RoleAssignment)
  .min(1)
  .max(MAX_ROLES)
  .refine((roles) => isEachOnce(textsOfField(roles, 'roleSlug')), ROLE_TWICE);

/** Terms of temporary roles, by slug. */
type RoleTerms = Readonly<Record<string, RoleTerm>>;

/** Roles in the form of a membership. */
export interface StoredRoles {
  readonly slugs: readonly string[];
  readonly terms: RoleTerms | null;
}

/** Roles in the form of the database. @param now the current time of the database */
export function toStoredRoles(
  roles: readonly RoleAssignment[],
  now: Date,
): { slugs: string[]; terms: RoleTerms | null } {
  const terms = roles.flatMap(({ roleSlug: slug, range, startsAt }): [string, RoleTerm][] => {
    if (range == null) return [];
    const start = startsAt ?? now;
    const end = endOfTerm(start, range);
    return [[slug, { range, startsAt: start.toISOString(), endsAt: end.toISOString() }]];
  });
  return {
    slugs: roles.map((entry) => entry.roleSlug),
    terms: terms.length === 0 ? null : Object.fromEntries(terms),
  };
}

/** A role that is or was assigned to a member. */
export interface AssignedRole {
  readonly projectId: string;
  readonly roleSlug: string;
  readonly isTemporary: boolean;
  readonly range: string | null;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly isActive: boolean;
}

/** Roles in the form of the API. @param active slugs of those that are active now, by the clock of the database */
export const toAssignedRoles = (
  projectId: string,
  { slugs, terms }: StoredRoles,
  active: readonly string[],
): AssignedRole[] =>
  slugs.map((slug) => {
    const term = terms !== null && Object.hasOwn(terms, slug) ? terms[slug] : undefined;
    return {
      projectId,
      roleSlug: slug,
      isTemporary: term !== undefined,
      range: term?.range ?? null,
      startsAt: term === undefined ? null : new Date(term.startsAt),
      endsAt: term === undefined ? null : new Date(term.endsAt),
      isActive: active.includes(slug),
    };
  });

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
export const AddMember = MemberKey.extend(rolesOf(ALL_ROLES))
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
    onConflict,
  })
  .refine(isOneGiven, EITHER)
  .meta({ description: 'The users of the organization to add to the project, by username, and the roles to assign.' });

/** Arguments of `Project.members`. */
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
export interface RolesInput {
  readonly roles?: readonly string[] | null | undefined;
  readonly roleAssignments?: readonly RoleAssignment[] | null | undefined;
}

/** The same in one form. */
export const assignmentsOf = ({ roles, roleAssignments }: RolesInput): readonly RoleAssignment[] =>
  roleAssignments ?? (roles ?? []).map((slug) => ({ roleSlug: slug }));

/** What the roles of somebody who is a member already are compared with, in their order. */
export const rolesWanted = (given: RolesInput): object[] => assignmentsOf(given).map(termWanted);

/** Path of a role in the input. */
export const pathOfRole = ({ roleAssignments }: RolesInput, index: number): string =>
  roleAssignments == null ? `roles[${index}]` : `roleAssignments[${index}].roleSlug`;

const SUBJECTS = { user: 'member', identity: 'identity', group: 'groups' } as const;
/** Subjects of rules about members. */
type MemberSubject = (typeof SUBJECTS)[MemberKind];

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
