import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { MemberKindEnum } from '../organizations/public.js';
import type { MemberKind } from './membership.rules.js';

/** A user or identity in a project. */
@ObjectType('ProjectMembership', {
  implements: Node,
  description: 'A person or a machine identity in a project.',
  simpleResolvers: true,
})
export class ProjectMembershipType {
  @Field(() => ID, { description: 'Id of the membership.' })
  id!: string;

  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => MemberKindEnum, { description: 'Who it is.' })
  memberKind!: MemberKind;

  @Field(() => ID, { description: 'Id of the user or identity.' })
  memberId!: string;

  @Field(() => String, { description: 'Username of the user, or name of the identity.' })
  name!: string;

  @Field(() => [String], {
    description: 'Slugs of the roles. What they allow adds up; what one forbids, it takes back from those before it.',
  })
  roles!: string[];

  @Field(() => DateTime, { description: 'Since when.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the roles were last changed.' })
  updatedAt!: Date;
}

export const ProjectMembershipConnection = connectionOf(ProjectMembershipType, 'ProjectMembership', 'name, then id');

@InputType({ description: 'Who leaves a project.' })
export class RemoveProjectMemberInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => MemberKindEnum, { description: 'Who it is.' })
  memberKind!: MemberKind;

  @Field(() => ID, { description: 'Id of the user or identity.' })
  memberId!: string;
}

@InputType({ description: 'Who of the organization joins a project, and as what.' })
export class AddProjectMemberInput extends RemoveProjectMemberInput {
  @Field(() => [String], {
    description:
      'Slugs of 1 to 10 roles, each once: `admin`, `member`, `viewer`, `no-access`, and roles of the project. The built-in ones come first, whatever the order; later rules win.',
  })
  roles!: string[];
}

@ObjectType({ description: 'The new membership.' })
export class AddProjectMemberPayload {
  @Field(() => ProjectMembershipType, { description: 'The membership.' })
  membership!: ProjectMembershipType;
}

@InputType({ description: 'Which users of the organization join a project, by name, and as what.' })
export class AddProjectUsersInput {
  @Field(() => ID, { description: 'The project.' })
  projectId!: string;

  @Field(() => [String], { description: 'Usernames, 1 to 100, each once.' })
  usernames!: string[];

  @Field(() => [String], { description: 'Slugs of 1 to 10 roles, each once, for all of them.' })
  roles!: string[];
}

@ObjectType({ description: 'The new memberships, by name.' })
export class AddProjectUsersPayload {
  @Field(() => [ProjectMembershipType], { description: 'The memberships.' })
  memberships!: ProjectMembershipType[];
}

@InputType({ description: 'The roles that a member has from now on.' })
export class UpdateProjectMemberInput extends RemoveProjectMemberInput {
  @Field(() => [String], { description: 'Slugs of 1 to 10 roles, each once. They replace the ones before.' })
  roles!: string[];
}

@ObjectType({ description: 'The membership after the change.' })
export class UpdateProjectMemberPayload {
  @Field(() => ProjectMembershipType, { description: 'The membership.' })
  membership!: ProjectMembershipType;
}

@ObjectType({ description: 'The membership that is gone.' })
export class RemoveProjectMemberPayload {
  @Field(() => ProjectMembershipType, { description: 'As it was.' })
  membership!: ProjectMembershipType;
}
