import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { TokenAuthType, TrustedIpInput, TrustedIpType, UpdateTokenAuthInput } from './token-auth.type.js';

@ObjectType('UniversalAuth', {
  description:
    'How a machine identity logs in with a client id and a client secret. The networks hold for what was made before, too.',
  simpleResolvers: true,
})
export class UniversalAuthType extends TokenAuthType {
  @Field(() => ID, { description: 'The client id that the identity logs in with. It is no secret.' })
  clientId!: string;

  @Field(() => [TrustedIpType], { description: 'The networks from which client secrets may be used.' })
  clientSecretTrustedIps!: TrustedIpType[];
}

@InputType({ description: 'Changes of a universal-auth configuration. What is absent stays.' })
export class UpdateUniversalAuthInput extends UpdateTokenAuthInput {
  @Field(() => [TrustedIpInput], {
    nullable: true,
    description: 'The networks from which client secrets may be used; 1 to 256.',
  })
  clientSecretTrustedIps?: TrustedIpInput[];
}

@InputType({
  description: 'A new universal-auth configuration. Absent: everywhere, 30 days, at most 30 days, no limit of uses.',
})
export class AttachUniversalAuthInput extends UpdateUniversalAuthInput {}

@InputType({ description: 'Whose universal-auth configuration to remove.' })
export class RemoveUniversalAuthInput {
  @Field(() => ID, { description: 'The identity. Its client secrets and all tokens that they made go too.' })
  identityId!: string;
}

@ObjectType({ description: 'The new universal-auth configuration.' })
export class AttachUniversalAuthPayload {
  @Field(() => UniversalAuthType, { description: 'The new configuration.' })
  universalAuth!: UniversalAuthType;
}

@ObjectType({ description: 'The changed universal-auth configuration.' })
export class UpdateUniversalAuthPayload {
  @Field(() => UniversalAuthType, { description: 'The configuration as it is now.' })
  universalAuth!: UniversalAuthType;
}

@ObjectType({ description: 'The universal-auth configuration as it was.' })
export class RemoveUniversalAuthPayload {
  @Field(() => UniversalAuthType, { description: 'The removed configuration.' })
  universalAuth!: UniversalAuthType;
}
