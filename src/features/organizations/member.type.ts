import { Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { OrganizationRoleEnum } from './user.type.js';

/** The kinds of members, of organizations and of projects, as GraphQL names them. */
export const MemberKindEnum = { USER: 'user', IDENTITY: 'identity', GROUP: 'group' } as const;
registerEnumType(MemberKindEnum, {
  name: 'MemberKind',
  description: 'Whether a member is a person, a machine or a group of them.',
  valuesConfig: {
    USER: { description: 'A person.' },
    IDENTITY: { description: 'A machine identity.' },
    GROUP: { description: 'A group of people and machine identities.' },
  },
});

@ObjectType('OrganizationMember', {
  implements: Node,
  description: 'A user or a machine identity, and what it is in an organization.',
  simpleResolvers: true,
})
export class MemberType {
  @Field(() => ID, { description: 'Id of the membership.' })
  id!: string;

  @Field(() => MemberKindEnum, { description: 'Whether it is a person or a machine.' })
  memberKind!: 'user' | 'identity';

  @Field(() => ID, { description: 'Id of the user or the identity.' })
  memberId!: string;

  @Field(() => String, { description: 'The username, or the name of the identity.' })
  name!: string;

  @Field(() => ID, { description: 'The organization that it is a member of.' })
  organizationId!: string;

  @Field(() => OrganizationRoleEnum, { description: 'What it is in that organization.' })
  role!: string;
}

export const MemberConnection = connectionOf(MemberType, 'OrganizationMember', 'name, then id');

@InputType({ description: 'Whose membership to end. Give userId or identityId.' })
export class RemoveOrganizationMemberInput {
  @Field(() => ID, { nullable: true, description: 'The organization; absent for that of your token.' })
  organizationId?: string | null;

  @Field(() => ID, { nullable: true, description: 'The user.' })
  userId?: string | null;

  @Field(() => ID, { nullable: true, description: 'The machine identity.' })
  identityId?: string | null;
}

@InputType({ description: 'Who shall be what in an organization. Give userId or identityId.' })
export class SetOrganizationMemberInput extends RemoveOrganizationMemberInput {
  @Field(() => OrganizationRoleEnum, { description: 'What it shall be there.' })
  role!: string;
}

@ObjectType({ description: 'The membership as it is now.' })
export class SetOrganizationMemberPayload {
  @Field(() => MemberType, { description: 'The member.' })
  member!: MemberType;
}

@ObjectType({ description: 'The membership as it was.' })
export class RemoveOrganizationMemberPayload {
  @Field(() => MemberType, { description: 'The former member, in its last role.' })
  member!: MemberType;
}
