import { bodyOf, routesAt } from '../../../../rest/route.js';
import { AttachTokenAuth, UpdateTokenAuth } from '../token-auth.rules.js';

const tokenAuth = routesAt('/api/v1/auth/token-auth/identities/{identityId}', {
  select: `identityId accessTokenTrustedIps { ipAddress } accessTokenTTL accessTokenMaxTTL accessTokenNumUsesLimit
    createdAt updatedAt`,
  errors: ['IDENTITY_NOT_FOUND'],
});

/** Token-auth configurations. */
export const tokenAuthRoutes = [
  tokenAuth.post('', 'Attach token authentication to a machine identity', {
    field: 'attachTokenAuth',
    as: 'identityTokenAuth',
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
    as: 'identityTokenAuth',
    body: bodyOf(UpdateTokenAuth, 'identityId'),
    errors: ['TOKEN_AUTH_NOT_FOUND', 'LAST_ADMIN'],
    example: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  }),
  tokenAuth.delete('', 'Remove token authentication and all tokens of a machine identity', {
    field: 'removeTokenAuth',
    as: 'identityTokenAuth',
    errors: ['TOKEN_AUTH_NOT_FOUND', 'LAST_ADMIN'],
  }),
];
