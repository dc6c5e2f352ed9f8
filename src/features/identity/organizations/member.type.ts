import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

/** The kinds of members, of organizations and of projects, as GraphQL names them. */
export const MemberKindEnum = { USER: 'user', IDENTITY: 'identity', GROUP: 'group' } as const;
registerEnumType(MemberKindEnum, {
  name: 'MemberKind',
  description: 'Kinds of members.',
  valuesConfig: {
    USER: { description: 'A user: a person with an account.' },
    IDENTITY: { description: 'A machine identity, for example a service or a deployment pipeline.' },
    GROUP: { description: 'A group of users and machine identities.' },
  },
});

@ObjectType('OrganizationMember', {
  implements: Node,
  description: 'Membership of a user or a machine identity in an organization.',
  simpleResolvers: true,
})
export class MemberType {
  @Field(() => ID, { description: 'ID of the membership.' })
  id!: string;

  @Field(() => MemberKindEnum, { description: 'Kind of the member: `USER` or `IDENTITY`.' })
  memberKind!: 'user' | 'identity';

  @Field(() => ID, { description: 'ID of the user or machine identity.' })
  memberId!: string;

  @Field(() => String, { description: 'Username of the user, or name of the machine identity.' })
  name!: string;

  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role of the member in the organization, for example `admin`.' })
  roleSlug!: string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the membership ends or ended. Null if it does not end.',
  })
  endsAt!: Date | null;
}

export const MemberConnection = countedConnectionOf(MemberType, 'OrganizationMember', 'name, then ID');
