import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { MemberKindEnum } from '../organizations/public.js';
import { type MemberKind, memberKind } from './membership.rules.js';

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
  roleSlugs!: string[];

  @Field(() => DateTime, { description: 'Since when.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the roles were last changed.' })
  updatedAt!: Date;
}

export const ProjectMembershipConnection = connectionOf(ProjectMembershipType, 'ProjectMembership', 'name, then id');

enumOfRule(memberKind, MemberKindEnum);

@ObjectType({ description: 'The new memberships, by name.' })
export class AddProjectUsersPayload {
  @Field(() => [ProjectMembershipType], { description: 'The memberships.' })
  memberships!: ProjectMembershipType[];
}
