import { Field, ID, Int, ObjectType } from 'type-graphql';
import { MemberKindEnum } from '../organizations/public.js';
import { AccessTokenType } from './access-token.type.js';

@ObjectType('Viewer', {
  description: 'The caller: its account, its organization and its token.',
  simpleResolvers: true,
})
export class ViewerType {
  @Field(() => MemberKindEnum, { description: 'Whether you are a user or a machine identity.' })
  kind!: 'user' | 'identity';

  @Field(() => String, { description: 'Your username, or the name of your machine identity.' })
  name!: string;

  @Field(() => ID, { nullable: true, description: 'ID of your machine identity; null for a user.' })
  identityId!: string | null;

  @Field(() => ID, { nullable: true, description: 'ID of your user; null for a machine identity.' })
  userId!: string | null;

  @Field(() => ID, { description: 'ID of the organization that your token is scoped to.' })
  organizationId!: string;

  @Field(() => AccessTokenType, { description: 'ID of the token that you sent.' })
  token!: AccessTokenType;

  @Field(() => Int, { nullable: true, description: 'Number of remaining uses of the token; null for no limit.' })
  usesLeft!: number | null;
}
