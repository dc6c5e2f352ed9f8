import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';

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
  @Field(() => ID, { description: 'ID of the membership.' })
  id!: string;

  @Field(() => MemberKindEnum, { description: 'Whether it is a person or a machine.' })
  memberKind!: 'user' | 'identity';

  @Field(() => ID, { description: 'ID of the user or the identity.' })
  memberId!: string;

  @Field(() => String, { description: 'The username, or the name of the identity.' })
  name!: string;

  @Field(() => ID, { description: 'The organization that it is a member of.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role that it has in that organization.' })
  roleSlug!: string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the membership ends, or has ended; null if it has no end.',
  })
  endsAt!: Date | null;
}

export const MemberConnection = countedConnectionOf(MemberType, 'OrganizationMember', 'name, then ID');
