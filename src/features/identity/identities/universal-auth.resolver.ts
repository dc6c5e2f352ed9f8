import { ID } from 'type-graphql';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { comparedNetworks, configurationResolver } from './auth-configuration.resolver.js';
import { configurationRoutes } from './auth-configuration.routes.js';
import { UNIVERSAL_AUTH } from './auth-configuration.service.js';
import { TokenAuthType, TrustedIpType } from './token-auth.resolver.js';

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

/** `identityUniversalAuth`, `attachUniversalAuth`, `updateUniversalAuth` and `removeUniversalAuth`. */
export const UniversalAuthResolver = configurationResolver(
  UNIVERSAL_AUTH,
  UniversalAuthType,
  {
    attached: ', which gets a client ID.',
    removed: 'Its client secrets and the tokens issued with them are revoked immediately.',
  },
  { clientSecretTrustedIps: comparedNetworks('clientSecretTrustedIps') },
);

/** Universal-auth configurations. */
export const universalAuthRoutes = configurationRoutes(UNIVERSAL_AUTH, {
  called: 'universal-auth',
  removal: 'Remove universal authentication with its client secrets and tokens',
  select: 'identityId clientId clientSecretTrustedIps *',
  examples: {
    attach: { clientSecretTrustedIps: [{ ipAddress: '10.0.0.0/8' }], accessTokenTTL: 3_600 },
    update: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  },
});
