import { Field, ID, ObjectType } from 'type-graphql';
import { TokenAuthType, TrustedIpType } from '../token-auth/token-auth.type.js';

@ObjectType('UniversalAuth', {
  description:
    'Settings of universal authentication of a machine identity, which logs in with a client ID and a client secret. Changed networks apply to existing client secrets and tokens too.',
  simpleResolvers: true,
})
export class UniversalAuthType extends TokenAuthType {
  @Field(() => ID, { description: 'Client ID of the identity. It is not secret.' })
  clientId!: string;

  @Field(() => [TrustedIpType], { description: 'Networks that client secrets can be used from.' })
  clientSecretTrustedIps!: TrustedIpType[];
}
