import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { configurationResolver } from './auth-configuration.resolver.js';
import { configurationRoutes } from './auth-configuration.routes.js';
import { TrustedIp } from './auth-configuration.rules.js';
import { TOKEN_AUTH } from './auth-configuration.service.js';

export const TrustedIpType = objectType('TrustedIp', 'A trusted network.', {
  ipAddress: [String, 'IP address or network, for example `10.0.0.0/8` or `2001:db8::/32`.'],
});
export type TrustedIpType = InstanceType<typeof TrustedIpType>;

inputType('TrustedIpInput', TrustedIp);

export const TokenAuthType = objectType(
  'TokenAuth',
  'Settings of token authentication of a machine identity. Changed networks apply to existing tokens too, the other settings to new tokens only.',
  {
    identityId: [ID, 'ID of the machine identity.'],
    accessTokenTrustedIps: [[TrustedIpType], 'Networks that access tokens can be used from.'],
    accessTokenTTL: [Int, 'Lifetime of an access token in seconds, until it is renewed. 0: no limit.'],
    accessTokenMaxTTL: [Int, 'Maximum lifetime of an access token in seconds, including renewals. 0: no limit.'],
    accessTokenNumUsesLimit: [Int, 'Maximum number of uses of an access token. 0: no limit.'],
    createdAt: [DateTime, 'When the authentication method was attached.'],
    updatedAt: [DateTime, 'When the settings were last changed.'],
  },
);
export type TokenAuthType = InstanceType<typeof TokenAuthType>;

/** `identityTokenAuth`, `attachTokenAuth`, `updateTokenAuth` and `removeTokenAuth`. */
export const TokenAuthResolver = configurationResolver(
  TOKEN_AUTH,
  TokenAuthType,
  {
    attached: ', so that tokens can be created for it.',
    removed: 'All tokens of this method are revoked immediately.',
  },
  {},
);

/** Token-auth configurations. */
export const tokenAuthRoutes = configurationRoutes(TOKEN_AUTH, {
  called: 'token-auth',
  removal: 'Remove token authentication and all tokens of a machine identity',
  examples: {
    attach: {
      accessTokenTrustedIps: [{ ipAddress: '10.0.0.0/8' }],
      accessTokenTTL: 86_400,
      accessTokenMaxTTL: 604_800,
    },
    update: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  },
});
