import { Field, ID, ObjectType } from 'type-graphql';
import { TokenAuthType, TrustedIpType } from '../token-auth/token-auth.type.js';

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
