import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { MemberKindEnum } from '../../organizations/public.js';
import { type MemberKind, memberKind } from './membership.rules.js';
import { RoleAssignment } from './role-terms.rules.js';

/** One role of a member. The role itself stands beside its slug: see link.resolver.ts. */
@ObjectType('ProjectRoleAssignment', { description: 'A role that a member has.', simpleResolvers: true })
export class RoleAssignmentType {
  /** Not in the schema: where the role is. */
  projectId!: string;

  @Field(() => String, { description: 'Slug of the role.' })
  roleSlug!: string;

  @Field(() => Boolean, { description: 'Whether it is held for a time only.' })
  isTemporary!: boolean;

  @Field(() => String, { nullable: true, description: 'For how long, as `2h`; null for good.' })
  range!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'From when on; null for a role that is held for good.' })
  startsAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'The moment at which it is not held any more; null for a role that is held for good.',
  })
  endsAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether it is held right now.' })
  isActive!: boolean;
}

/** A user, an identity or a group in a project. */
@ObjectType('ProjectMembership', {
  implements: Node,
  description: 'A person, a machine identity or a group in a project.',
  simpleResolvers: true,
})
export class ProjectMembershipType {
  @Field(() => ID, { description: 'ID of the membership.' })
  id!: string;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => MemberKindEnum, { description: 'Who it is.' })
  memberKind!: MemberKind;

  @Field(() => ID, { description: 'ID of the user, identity or group.' })
  memberId!: string;

  @Field(() => String, { description: 'Username of the user, or name of the identity or group.' })
  name!: string;

  @Field(() => [String], {
    description: 'Slugs of the roles. What they allow adds up; what one forbids, it takes back from those before it.',
  })
  roleSlugs!: string[];

  @Field(() => [RoleAssignmentType], {
    description: 'The same roles, each with its term. One that has ended, or not begun, is in it and allows nothing.',
  })
  roleAssignments!: readonly RoleAssignmentType[];

  @Field(() => DateTime, { description: 'Since when.' })
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

@ObjectType({ description: 'The new memberships, by name.' })
export class AddProjectUsersPayload {
  @Field(() => [ProjectMembershipType], { description: 'The memberships.' })
  memberships!: ProjectMembershipType[];
}
