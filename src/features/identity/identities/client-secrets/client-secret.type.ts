import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';

@ObjectType('ClientSecret', {
  implements: Node,
  description: 'A client secret, which a machine identity uses to log in. Its value is not stored.',
  simpleResolvers: true,
})
export class ClientSecretType {
  @Field(() => ID, { description: 'ID of the client secret. The ID is not the value.' })
  id!: string;

  @Field(() => ID, { description: 'ID of the machine identity that logs in with it.' })
  identityId!: string;

  @Field(() => String, { description: 'Description of the client secret. May be empty.' })
  description!: string;

  @Field(() => String, {
    description: 'First four characters of the value after `srs_`, to recognize it, for example `k3Xb`.',
  })
  clientSecretPrefix!: string;

  @Field(() => Int, { description: 'Lifetime in seconds from its creation. 0: no limit.' })
  clientSecretTTL!: number;

  @Field(() => Int, {
    description: 'Number of logins with the client secret. Numbers above 2,147,483,647 are shown as 2,147,483,647.',
  })
  clientSecretNumUses!: number;

  @Field(() => Int, { description: 'Maximum number of logins. 0: no limit.' })
  clientSecretNumUsesLimit!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the client secret was last used to log in. Null if it was never used.',
  })
  clientSecretLastUsedAt!: Date | null;

  @Field(() => Boolean, {
    description:
      'Whether the client secret was revoked. Then it cannot be used to log in, and the tokens issued with it are revoked too.',
  })
  isClientSecretRevoked!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When the client secret expires. Null: never.' })
  expiresAt!: Date | null;

  @Field(() => DateTime, { description: 'When the client secret was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the client secret was created or revoked.' })
  updatedAt!: Date;
}

export const ClientSecretConnection = connectionOf(ClientSecretType, 'ClientSecret', 'newest first, then ID');

@ObjectType({ description: 'Result of `createClientSecret`.' })
export class CreateClientSecretPayload {
  @Field(() => String, { description: 'Value of the client secret: `srs_…`. It is shown only once.' })
  clientSecret!: string;

  @Field(() => ClientSecretType, { description: 'The created client secret.' })
  clientSecretData!: ClientSecretType;
}
