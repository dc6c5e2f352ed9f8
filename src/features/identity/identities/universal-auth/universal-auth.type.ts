import { ID } from 'type-graphql';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { TokenAuthType, TrustedIpType } from '../token-auth/token-auth.type.js';

export const UniversalAuthType = objectType(
  'UniversalAuth',
  'Settings of universal authentication of a machine identity, which logs in with a client ID and a client secret. Changed networks apply to existing client secrets and tokens too.',
  {
    clientId: [ID, 'Client ID of the identity. It is not secret.'],
    clientSecretTrustedIps: [[TrustedIpType], 'Networks that client secrets can be used from.'],
  },
  { extends: TokenAuthType },
);
export type UniversalAuthType = InstanceType<typeof UniversalAuthType>;
