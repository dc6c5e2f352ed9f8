import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../identity/organizations/public.js';
import { type MemberKind, memberKind } from './membership.rules.js';
import { RoleAssignment } from './role-terms.rules.js';

/** One role of a member. The role itself is a relation: see relation.resolver.ts. */
@ObjectType('ProjectRoleAssignment', { description: 'A role that is assigned to a member.', simpleResolvers: true })
export class RoleAssignmentType {
  /** Not in the schema: the project of the role. */
  projectId!: string;

  @Field(() => String, { description: 'Slug of the role, for example `viewer`.' })
  roleSlug!: string;

  @Field(() => Boolean, { description: 'Whether the role is assigned temporarily.' })
  isTemporary!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'Duration of the assignment, for example `2h`; null for a permanent role.',
  })
  range!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the assignment starts; null for a permanent role.' })
  startsAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the assignment ends; null for a permanent role.',
  })
  endsAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether the role is active now.' })
  isActive!: boolean;
}

/** A user, an identity or a group in a project. */
@ObjectType('ProjectMembership', {
  implements: Node,
  description: 'The membership of a user, a machine identity or a group in a project.',
  simpleResolvers: true,
})
export class ProjectMembershipType {
  @Field(() => ID, { description: 'ID of the membership.' })
  id!: string;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => MemberKindEnum, { description: 'Kind of the member.' })
  memberKind!: MemberKind;

  @Field(() => ID, { description: 'ID of the user, identity or group.' })
  memberId!: string;

  @Field(() => String, { description: 'Username of the user, or name of the identity or group.' })
  name!: string;

  @Field(() => [String], {
    description:
      'Slugs of the roles. Permissions of all roles add up; a forbidding rule overrides the rules before it.',
  })
  roleSlugs!: readonly string[];

  @Field(() => [RoleAssignmentType], {
    description:
      'The same roles, each with its term. Assignments that have ended or not started yet are included; they grant nothing.',
  })
  roleAssignments!: readonly RoleAssignmentType[];

  @Field(() => DateTime, { description: 'When the member was added.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the roles were last changed.' })
  updatedAt!: Date;
}

export const ProjectMembershipConnection = countedConnectionOf(
  ProjectMembershipType,
  'ProjectMembership',
  'name, then ID',
);

enumOfRule(memberKind, MemberKindEnum);
inputType('ProjectRoleAssignmentInput', RoleAssignment);

@ObjectType({ description: 'Result of `removeProjectUsers`.' })
export class RemoveProjectUsersPayload {
  @Field(() => [ProjectMembershipType], { description: 'The deleted memberships, by name.' })
  memberships!: ProjectMembershipType[];
}

@ObjectType({ description: 'Result of `addProjectUsers`.' })
export class AddProjectUsersPayload {
  @Field(() => [ProjectMembershipType], { description: 'The new memberships, ordered by name.' })
  memberships!: ProjectMembershipType[];
}
