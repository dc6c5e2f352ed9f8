import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';

@ObjectType('ClientSecret', {
  implements: Node,
  description: 'A secret that a machine identity logs in with: everything but the secret itself, which is not kept.',
  simpleResolvers: true,
})
export class ClientSecretType {
  @Field(() => ID, { description: 'Identifies the client secret. It is not the secret.' })
  id!: string;

  @Field(() => ID, { description: 'The machine identity that logs in with it.' })
  identityId!: string;

  @Field(() => String, { description: 'What people wrote about it; may be empty.' })
  description!: string;

  @Field(() => String, { description: 'Its first four characters after `srs_`, to tell it from others.' })
  clientSecretPrefix!: string;

  @Field(() => Int, { description: 'Seconds from its making that it lives; 0 for no limit.' })
  clientSecretTTL!: number;

  @Field(() => Int, {
    description: 'How many logins were made with it. More than 2,147,483,647 are shown as that number.',
  })
  clientSecretNumUses!: number;

  @Field(() => Int, { description: 'How many logins can be made with it; 0 for no limit.' })
  clientSecretNumUsesLimit!: number;

  @Field(() => DateTime, { nullable: true, description: 'When a login was last made with it.' })
  clientSecretLastUsedAt!: Date | null;

  @Field(() => Boolean, {
    description: 'It was revoked: nobody logs in with it any more, and the tokens of its logins are revoked too.',
  })
  isClientSecretRevoked!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When it expires; null for never.' })
  expiresAt!: Date | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was made or revoked.' })
  updatedAt!: Date;
}

export const ClientSecretConnection = connectionOf(ClientSecretType, 'ClientSecret', 'newest first, then ID');

@ObjectType({ description: 'A client secret that was just made. This is the only time that it is shown.' })
export class CreateClientSecretPayload {
  @Field(() => String, { description: 'The client secret, `srs_...`.' })
  clientSecret!: string;

  @Field(() => ClientSecretType, { description: 'What is kept of it.' })
  clientSecretData!: ClientSecretType;
}
