import { Field, ID, ObjectType } from 'type-graphql';
import { argsType, inputType, payloadType } from '../../../kernel/graphql/inputs.js';
import { TokenAuthType, TrustedIpType } from '../token-auth.type.js';
import { AttachUniversalAuth, OneUniversalAuth, UpdateUniversalAuth } from './universal-auth.rules.js';

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

export const UniversalAuthArgs = argsType(OneUniversalAuth);
export const AttachUniversalAuthInput = inputType('AttachUniversalAuthInput', AttachUniversalAuth);
export const UpdateUniversalAuthInput = inputType('UpdateUniversalAuthInput', UpdateUniversalAuth);
export const RemoveUniversalAuthInput = inputType('RemoveUniversalAuthInput', OneUniversalAuth);

const payload = (name: string, description: string, about: string) =>
  payloadType(name, description, { universalAuth: [UniversalAuthType, about] });
export const AttachUniversalAuthPayload = payload(
  'AttachUniversalAuthPayload',
  'The new universal-auth configuration.',
  'The new configuration.',
);
export const UpdateUniversalAuthPayload = payload(
  'UpdateUniversalAuthPayload',
  'The changed universal-auth configuration.',
  'The configuration as it is now.',
);
export const RemoveUniversalAuthPayload = payload(
  'RemoveUniversalAuthPayload',
  'The removed universal-auth configuration.',
  'The removed configuration.',
);
