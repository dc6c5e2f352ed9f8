import { Field, ID, Int, ObjectType } from 'type-graphql';
import { MemberKindEnum } from '../organizations/public.js';
import { AccessTokenType } from './access-token.type.js';

@ObjectType('Viewer', {
  description: 'You: who calls, in which organization, and with which token.',
  simpleResolvers: true,
})
export class ViewerType {
  @Field(() => MemberKindEnum, { description: 'Whether you are a person or a machine.' })
  kind!: 'user' | 'identity';

  @Field(() => String, { description: 'Your username, or the name of your machine identity.' })
  name!: string;

  @Field(() => ID, { nullable: true, description: 'Your machine identity; null for a user.' })
  identityId!: string | null;

  @Field(() => ID, { nullable: true, description: 'Your user; null for a machine identity.' })
  userId!: string | null;

  @Field(() => ID, { description: 'The organization that your token is scoped to.' })
  organizationId!: string;

  @Field(() => AccessTokenType, { description: 'The token that you sent.' })
  token!: AccessTokenType;

  @Field(() => Int, { nullable: true, description: 'How many more times the token can be used; null for no limit.' })
  usesLeft!: number | null;
}
