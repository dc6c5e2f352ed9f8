import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { TrustedIp } from '../token-auth.rules.js';

@ObjectType('TrustedIp', { description: 'A trusted network.', simpleResolvers: true })
export class TrustedIpType {
  @Field(() => String, { description: 'IP address or network, for example `10.0.0.0/8` or `2001:db8::/32`.' })
  ipAddress!: string;
}

inputType('TrustedIpInput', TrustedIp);

@ObjectType('TokenAuth', {
  description:
    'Settings of token authentication of a machine identity. Changed networks apply to existing tokens too, the other settings to new tokens only.',
  simpleResolvers: true,
})
export class TokenAuthType {
  @Field(() => ID, { description: 'ID of the machine identity.' })
  identityId!: string;

  @Field(() => [TrustedIpType], { description: 'Networks that access tokens can be used from.' })
  accessTokenTrustedIps!: TrustedIpType[];

  @Field(() => Int, { description: 'Lifetime of an access token in seconds, until it is renewed. 0: no limit.' })
  accessTokenTTL!: number;

  @Field(() => Int, {
    description: 'Maximum lifetime of an access token in seconds, including renewals. 0: no limit.',
  })
  accessTokenMaxTTL!: number;

  @Field(() => Int, { description: 'Maximum number of uses of an access token. 0: no limit.' })
  accessTokenNumUsesLimit!: number;

  @Field(() => DateTime, { description: 'When the authentication method was attached.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the settings were last changed.' })
  updatedAt!: Date;
}
