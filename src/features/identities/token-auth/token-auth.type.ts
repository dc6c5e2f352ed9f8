import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { TrustedIp } from '../token-auth.rules.js';

@ObjectType('TrustedIp', { description: 'A network from which tokens may be used.', simpleResolvers: true })
export class TrustedIpType {
  @Field(() => String, { description: 'The network, as `10.0.0.0/8` or `2001:db8::/32`.' })
  ipAddress!: string;
}

inputType('TrustedIpInput', TrustedIp);

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

  @Field(() => DateTime, { description: 'When it was attached.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}
