import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import { AttachUniversalAuth, OneUniversalAuth, UpdateUniversalAuth } from './auth-configuration.rules.js';
import type { UniversalAuthService } from './auth-configuration.service.js';
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

@Resolver(() => UniversalAuthType)
export class UniversalAuthResolver {
  constructor(private readonly service: UniversalAuthService) {}

  @query(UniversalAuthType, OneUniversalAuth, 'Returns the settings of universal authentication of a machine identity.')
  identityUniversalAuth(ctx: Context, args: object): Promise<UniversalAuthType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    AttachUniversalAuth,
    { universalAuth: [UniversalAuthType, 'The settings of the attached universal authentication.'] },
    'Attaches universal authentication to a machine identity, which gets a client ID.',
  )
  async attachUniversalAuth(ctx: Context, input: object): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.attach(ctx, input) };
  }

  @mutation(
    UpdateUniversalAuth,
    { universalAuth: [UniversalAuthType, 'The updated settings.'] },
    'Changes the settings of universal authentication of a machine identity.',
  )
  async updateUniversalAuth(ctx: Context, input: object): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.update(ctx, input) };
  }

  @mutation(
    OneUniversalAuth,
    { universalAuth: [UniversalAuthType, 'The settings of the removed universal authentication.'] },
    'Removes universal authentication from a machine identity. Its client secrets and the tokens issued with them are revoked immediately.',
  )
  async removeUniversalAuth(ctx: Context, input: object): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.remove(ctx, input) };
  }
}

const universalAuth = routesAt('/api/v1/auth/universal-auth/identities/{identityId}', {
  select: 'identityId clientId clientSecretTrustedIps *',
  as: 'identityUniversalAuth',
  errors: ['IDENTITY_NOT_FOUND'],
});

/** Universal-auth configurations. */
export const universalAuthRoutes = [
  universalAuth.post('', 'Attach universal authentication to a machine identity', {
    field: 'attachUniversalAuth',
    body: bodyOf(AttachUniversalAuth, 'identityId'),
    errors: ['UNIVERSAL_AUTH_EXISTS'],
    example: { clientSecretTrustedIps: [{ ipAddress: '10.0.0.0/8' }], accessTokenTTL: 3_600 },
  }),
  universalAuth.get('', 'Get the universal-auth configuration of a machine identity', {
    field: 'identityUniversalAuth',
    errors: ['UNIVERSAL_AUTH_NOT_FOUND'],
  }),
  universalAuth.patch('', 'Change the universal-auth configuration of a machine identity', {
    field: 'updateUniversalAuth',
    body: bodyOf(UpdateUniversalAuth, 'identityId'),
    errors: ['UNIVERSAL_AUTH_NOT_FOUND', 'LAST_ADMIN'],
    example: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  }),
  universalAuth.delete('', 'Remove universal authentication with its client secrets and tokens', {
    field: 'removeUniversalAuth',
    errors: ['UNIVERSAL_AUTH_NOT_FOUND', 'LAST_ADMIN'],
  }),
];
