import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { CreateAccessTokenPayload } from './access-token.type.js';

@InputType({ description: 'What a machine identity logs in with.' })
export class LogInWithUniversalAuthInput {
  @Field(() => ID, { description: 'The client id of the identity.' })
  clientId!: string;

  @Field(() => String, { description: 'A client secret of the identity, `srs_...`.' })
  clientSecret!: string;

  @Field(() => String, { nullable: true, description: 'Slug of the sub-organization to scope the token to.' })
  organizationSlug?: string | null;
}

@ObjectType({ description: 'The token of a login. This is the only time that it is shown.' })
export class LogInWithUniversalAuthPayload extends CreateAccessTokenPayload {}
