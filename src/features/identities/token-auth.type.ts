import { GraphQLDateTimeISO } from 'graphql-scalars';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';

@ObjectType('TrustedIp', { description: 'A network from which tokens may be used.', simpleResolvers: true })
export class TrustedIpType {
  @Field(() => String, { description: 'The network, as `10.0.0.0/8` or `2001:db8::/32`.' })
  ipAddress!: string;
}

@InputType({ description: 'A network from which tokens may be used.' })
export class TrustedIpInput {
  @Field(() => String, { description: 'An address or a network, as `10.0.0.1` or `10.0.0.0/8`.' })
  ipAddress!: string;
}

@ObjectType('TokenAuth', {
  description:
    'How tokens of a machine identity are made. The networks hold for tokens already made, the rest for new ones.',
  simpleResolvers: true,
})
export class TokenAuthType {
  @Field(() => ID, { description: 'The identity that it belongs to.' })
  identityId!: string;

  @Field(() => [TrustedIpType], { description: 'The networks from which tokens may be used.' })
  accessTokenTrustedIps!: TrustedIpType[];

  @Field(() => Int, { description: 'Seconds that a token lives until it is renewed; 0 for no limit.' })
  accessTokenTTL!: number;

  @Field(() => Int, {
    description: 'Seconds from its making that a token lives at most, renewed or not; 0 for no limit.',
  })
  accessTokenMaxTTL!: number;

  @Field(() => Int, { description: 'How often a token may be used; 0 for no limit.' })
  accessTokenNumUsesLimit!: number;

  @Field(() => GraphQLDateTimeISO, { description: 'When it was attached.' })
  createdAt!: Date;

  @Field(() => GraphQLDateTimeISO, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

@InputType({ description: 'Changes of a token-auth configuration. What is absent stays.' })
export class UpdateTokenAuthInput {
  @Field(() => ID, { description: 'The identity.' })
  identityId!: string;

  @Field(() => [TrustedIpInput], {
    nullable: true,
    description: 'The networks from which tokens may be used; 1 to 256.',
  })
  accessTokenTrustedIps?: TrustedIpInput[];

  @Field(() => Int, {
    nullable: true,
    description: 'Seconds that a token lives, 0 to 315360000; 0 for no limit, which needs `accessTokenMaxTTL` 0 too.',
  })
  accessTokenTTL?: number;

  @Field(() => Int, {
    nullable: true,
    description: 'Seconds that a token lives at most, 0 to 315360000; 0 for no limit.',
  })
  accessTokenMaxTTL?: number;

  @Field(() => Int, { nullable: true, description: 'How often a token may be used; 0 for no limit.' })
  accessTokenNumUsesLimit?: number;
}

@InputType({
  description: 'A new token-auth configuration. Absent: everywhere, 30 days, at most 30 days, no limit of uses.',
})
export class AttachTokenAuthInput extends UpdateTokenAuthInput {}

@InputType({ description: 'Whose token-auth configuration to remove.' })
export class RemoveTokenAuthInput {
  @Field(() => ID, { description: 'The identity. All its tokens go too.' })
  identityId!: string;
}

@ObjectType({ description: 'The new token-auth configuration.' })
export class AttachTokenAuthPayload {
  @Field(() => TokenAuthType, { description: 'The new configuration.' })
  tokenAuth!: TokenAuthType;
}

@ObjectType({ description: 'The changed token-auth configuration.' })
export class UpdateTokenAuthPayload {
  @Field(() => TokenAuthType, { description: 'The configuration as it is now.' })
  tokenAuth!: TokenAuthType;
}

@ObjectType({ description: 'The token-auth configuration as it was.' })
export class RemoveTokenAuthPayload {
  @Field(() => TokenAuthType, { description: 'The removed configuration.' })
  tokenAuth!: TokenAuthType;
}
