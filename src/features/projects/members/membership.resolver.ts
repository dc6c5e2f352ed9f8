import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, EXISTING } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import {
  AddMember,
  AddUsers,
  ListMembers,
  MemberKey,
  MembershipById,
  memberKind,
  RemoveUsers,
  RoleAssignment,
  rolesWanted,
  UpdateMember,
} from './membership.rules.js';
import type { MembershipService } from './membership.service.js';

/** One role of a member. */
export const RoleAssignmentType = objectType('ProjectRoleAssignment', 'A role that is assigned to a member.', {
  /** Not in the schema: the project of the role. */
  projectId: hiddenField<string>(),
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

export const ProjectMembershipConnection = connectionOf(ProjectMembershipType, 'ProjectMembership', 'name, then ID');

enumOfRule(memberKind, MemberKindEnum);
inputType('ProjectRoleAssignmentInput', RoleAssignment);

const RemoveProjectUsersPayload = objectType('RemoveProjectUsersPayload', 'Result of `removeProjectUsers`.', {
  memberships: [[ProjectMembershipType], 'The deleted memberships, by name.'],
});
type RemoveProjectUsersPayload = InstanceType<typeof RemoveProjectUsersPayload>;

const AddProjectUsersPayload = objectType('AddProjectUsersPayload', 'Result of `addProjectUsers`.', {
  memberships: [[ProjectMembershipType], 'The new memberships, ordered by name.'],
  [EXISTING]: [
    [ProjectMembershipType],
    'With `onConflict: RETURN_EXISTING`, the memberships that existed already, ordered by name.',
  ],
});
type AddProjectUsersPayload = InstanceType<typeof AddProjectUsersPayload>;

@Resolver(() => ProjectMembershipType)
export class MembershipResolver {
  constructor(private readonly memberships: MembershipService) {}

  @query(ProjectMembershipType, MemberKey, 'Returns a member of a project.')
  projectMembership(ctx: Context, args: object): Promise<ProjectMembershipType> {
    return this.memberships.get(ctx, args);
  }

  @query(ProjectMembershipType, MembershipById, 'Returns a membership by its ID.')
  projectMembershipById(ctx: Context, args: object): Promise<ProjectMembershipType> {
    return this.memberships.getById(ctx, args);
  }

  @query(ProjectMembershipConnection, ListMembers, 'Lists the members of a project.')
  projectMemberships(ctx: Context, args: object): Promise<CountedConnectionOf<ProjectMembershipType>> {
    return this.memberships.list(ctx, args);
  }

  @creation(
    AddMember,
    { membership: [ProjectMembershipType, 'The new membership.'] },
    'Adds a user, an identity or a group of the organization to a project.',
    {
      find: (members: MembershipResolver, ctx, { projectId, memberKind: kind, memberId }) =>
        members.projectMembership(ctx, { projectId, memberKind: kind, memberId }),
      taken: 'ALREADY_A_MEMBER',
      // A member can be named in several ways.
      compare: {
        memberId: null,
        roles: {
          of: ({ roleAssignments }) => roleAssignments,
          as: (roles: readonly string[]) => rolesWanted({ roles }),
        },
        roleAssignments: {
          of: ({ roleAssignments }) => roleAssignments,
          as: (roleAssignments: readonly RoleAssignment[]) => rolesWanted({ roleAssignments }),
        },
      },
    },
  )
  async addProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.add(ctx, input) };
  }

  @mutation(
    AddUsers,
    AddProjectUsersPayload,
    'Adds users of the organization to a project by username. Either all are added or none.',
  )
  async addProjectUsers(ctx: Context, input: object): Promise<AddProjectUsersPayload> {
    return this.memberships.addUsers(ctx, input);
  }

  @mutation(
    UpdateMember,
    { membership: [ProjectMembershipType, 'The updated membership.'] },
    'Replaces the roles of a project member.',
  )
  async updateProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.update(ctx, input) };
  }

  @mutation(
    MemberKey,
    { membership: [ProjectMembershipType, 'The deleted membership.'] },
    'Removes a member from a project. The last admin cannot be removed.',
  )
  async removeProjectMember(ctx: Context, input: object): Promise<{ membership: ProjectMembershipType }> {
    return { membership: await this.memberships.remove(ctx, input) };
  }
  @mutation(
    RemoveUsers,
    RemoveProjectUsersPayload,
    'Removes users from a project by username: all or nothing. The last admin cannot be removed.',
  )
  async removeProjectUsers(ctx: Context, input: object): Promise<RemoveProjectUsersPayload> {
    return { memberships: await this.memberships.removeUsers(ctx, input) };
  }
}
