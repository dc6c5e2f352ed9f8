import { GraphQLDateTimeISO } from 'graphql-scalars';
import { Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../../kernel/graphql/page.js';

@ObjectType('ClientSecret', {
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

  @Field(() => Float, { description: 'How many logins were made with it.' })
  clientSecretNumUses!: number;

  @Field(() => Int, { description: 'How many logins can be made with it; 0 for no limit.' })
  clientSecretNumUsesLimit!: number;

  @Field(() => GraphQLDateTimeISO, { nullable: true, description: 'When a login was last made with it.' })
  clientSecretLastUsedAt!: Date | null;

  @Field(() => Boolean, {
    description: 'It was revoked: nobody logs in with it any more, and the tokens of its logins are revoked too.',
  })
  isClientSecretRevoked!: boolean;

  @Field(() => GraphQLDateTimeISO, { nullable: true, description: 'When it expires; null for never.' })
  expiresAt!: Date | null;

  @Field(() => GraphQLDateTimeISO, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => GraphQLDateTimeISO, { description: 'When it was made or revoked.' })
  updatedAt!: Date;
}

export const ClientSecretConnection = connectionOf(ClientSecretType, 'ClientSecret', 'newest first, then id');

@InputType({ description: 'A new client secret of a machine identity.' })
export class CreateClientSecretInput {
  @Field(() => ID, { description: 'The machine identity. Universal authentication must be attached to it.' })
  identityId!: string;

  @Field(() => String, { nullable: true, description: 'What people write about it, up to 255 characters.' })
  description?: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Seconds that it lives, 0 to 315360000; 0, and when absent, for no limit.',
  })
  ttl?: number;

  @Field(() => Int, {
    nullable: true,
    description: 'How many logins can be made with it; 0, and when absent, for no limit.',
  })
  numUsesLimit?: number;
}

@InputType({ description: 'Which client secret to revoke.' })
export class RevokeClientSecretInput {
  @Field(() => ID, { description: 'The machine identity that it belongs to.' })
  identityId!: string;

  @Field(() => ID, { description: 'The client secret.' })
  clientSecretId!: string;
}

@ObjectType({ description: 'A client secret that was just made. This is the only time that it is shown.' })
export class CreateClientSecretPayload {
  @Field(() => String, { description: 'The client secret, `srs_...`.' })
  clientSecret!: string;

  @Field(() => ClientSecretType, { description: 'What is kept of it.' })
  clientSecretData!: ClientSecretType;
}

@ObjectType({ description: 'The revoked client secret.' })
export class RevokeClientSecretPayload {
  @Field(() => ClientSecretType, { description: 'The client secret as it is now.' })
  clientSecretData!: ClientSecretType;
}
