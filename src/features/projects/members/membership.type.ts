import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hidden, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import { memberKind } from './membership.rules.js';
import { RoleAssignment } from './role-terms.rules.js';

/** One role of a member. The role itself is a relation: see relation.resolver.ts. */
export const RoleAssignmentType = objectType('ProjectRoleAssignment', 'A role that is assigned to a member.', {
  /** Not in the schema: the project of the role. */
  projectId: hidden<string>(),
  roleSlug: [String, 'Slug of the role, for example `viewer`.'],
  isTemporary: [Boolean, 'Whether the role is assigned temporarily.'],
  range: [orNull(String), 'Duration of the assignment, for example `2h`; null for a permanent role.'],
  startsAt: [orNull(DateTime), 'When the assignment starts; null for a permanent role.'],
  endsAt: [orNull(DateTime), 'When the assignment ends; null for a permanent role.'],
  isActive: [Boolean, 'Whether the role is active now.'],
});
export type RoleAssignmentType = InstanceType<typeof RoleAssignmentType>;

/** A user, an identity or a group in a project. */
export const ProjectMembershipType = objectType(
  'ProjectMembership',
  'The membership of a user, a machine identity or a group in a project.',
  {
    id: [ID, 'ID of the membership.'],
    projectId: [ID, 'ID of the project.'],
    memberKind: [MemberKindEnum, 'Kind of the member.'],
    memberId: [ID, 'ID of the user, identity or group.'],
    name: [String, 'Username of the user, or name of the identity or group.'],
    roleSlugs: [
      [String],
      'Slugs of the roles. Permissions of all roles add up; a forbidding rule overrides the rules before it.',
    ],
    roleAssignments: [
      [RoleAssignmentType],
      'The same roles, each with its term. Assignments that have ended or not started yet are included; they grant nothing.',
    ],
    createdAt: [DateTime, 'When the member was added.'],
    updatedAt: [DateTime, 'When the roles were last changed.'],
  },
  { implements: Node },
);
export type ProjectMembershipType = InstanceType<typeof ProjectMembershipType>;

export const ProjectMembershipConnection = countedConnectionOf(
  ProjectMembershipType,
  'ProjectMembership',
  'name, then ID',
);

enumOfRule(memberKind, MemberKindEnum);
inputType('ProjectRoleAssignmentInput', RoleAssignment);

export const RemoveProjectUsersPayload = objectType('RemoveProjectUsersPayload', 'Result of `removeProjectUsers`.', {
  memberships: [[ProjectMembershipType], 'The deleted memberships, by name.'],
});
export type RemoveProjectUsersPayload = InstanceType<typeof RemoveProjectUsersPayload>;

export const AddProjectUsersPayload = objectType('AddProjectUsersPayload', 'Result of `addProjectUsers`.', {
  memberships: [[ProjectMembershipType], 'The new memberships, ordered by name.'],
});
export type AddProjectUsersPayload = InstanceType<typeof AddProjectUsersPayload>;
