import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import { AttachTokenAuth, OneTokenAuth, TrustedIp, UpdateTokenAuth } from './auth-configuration.rules.js';
import type { TokenAuthService } from './auth-configuration.service.js';

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

@Resolver(() => TokenAuthType)
export class TokenAuthResolver {
  constructor(private readonly service: TokenAuthService) {}

  @query(TokenAuthType, OneTokenAuth, 'Returns the settings of token authentication of a machine identity.')
  identityTokenAuth(ctx: Context, args: object): Promise<TokenAuthType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    AttachTokenAuth,
    { tokenAuth: [TokenAuthType, 'The settings of the attached token authentication.'] },
    'Attaches token authentication to a machine identity, so that tokens can be created for it.',
  )
  async attachTokenAuth(ctx: Context, input: object): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.attach(ctx, input) };
  }

  @mutation(
    UpdateTokenAuth,
    { tokenAuth: [TokenAuthType, 'The updated settings.'] },
    'Changes the settings of token authentication of a machine identity.',
  )
  async updateTokenAuth(ctx: Context, input: object): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.update(ctx, input) };
  }

  @mutation(
    OneTokenAuth,
    { tokenAuth: [TokenAuthType, 'The settings of the removed token authentication.'] },
    'Removes token authentication from a machine identity. All tokens of this method are revoked immediately.',
  )
  async removeTokenAuth(ctx: Context, input: object): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.remove(ctx, input) };
  }
}

const tokenAuth = routesAt('/api/v1/auth/token-auth/identities/{identityId}', {
  as: 'identityTokenAuth',
  errors: ['IDENTITY_NOT_FOUND'],
});

/** Token-auth configurations. */
export const tokenAuthRoutes = [
  tokenAuth.post('', 'Attach token authentication to a machine identity', {
    field: 'attachTokenAuth',
    body: bodyOf(AttachTokenAuth, 'identityId'),
    errors: ['TOKEN_AUTH_EXISTS'],
    example: {
      accessTokenTrustedIps: [{ ipAddress: '10.0.0.0/8' }],
      accessTokenTTL: 86_400,
      accessTokenMaxTTL: 604_800,
    },
  }),
  tokenAuth.get('', 'Get the token-auth configuration of a machine identity', {
    field: 'identityTokenAuth',
    errors: ['TOKEN_AUTH_NOT_FOUND'],
  }),
  tokenAuth.patch('', 'Change the token-auth configuration of a machine identity', {
    field: 'updateTokenAuth',
    body: bodyOf(UpdateTokenAuth, 'identityId'),
    errors: ['TOKEN_AUTH_NOT_FOUND', 'LAST_ADMIN'],
    example: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  }),
  tokenAuth.delete('', 'Remove token authentication and all tokens of a machine identity', {
    field: 'removeTokenAuth',
    errors: ['TOKEN_AUTH_NOT_FOUND', 'LAST_ADMIN'],
  }),
];
