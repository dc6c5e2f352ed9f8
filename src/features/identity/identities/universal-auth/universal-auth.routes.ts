import { bodyOf, routesAt } from '../../../../rest/route.js';
import { AttachUniversalAuth, UpdateUniversalAuth } from './universal-auth.rules.js';

const universalAuth = routesAt('/api/v1/auth/universal-auth/identities/{identityId}', {
  select: `identityId clientId clientSecretTrustedIps { ipAddress } accessTokenTrustedIps { ipAddress }
    accessTokenTTL accessTokenMaxTTL accessTokenNumUsesLimit createdAt updatedAt`,
  errors: ['IDENTITY_NOT_FOUND'],
});

/** Universal-auth configurations. */
export const universalAuthRoutes = [
  universalAuth.post('', 'Attach universal authentication to a machine identity', {
    field: 'attachUniversalAuth',
    as: 'identityUniversalAuth',
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
    as: 'identityUniversalAuth',
    body: bodyOf(UpdateUniversalAuth, 'identityId'),
    errors: ['UNIVERSAL_AUTH_NOT_FOUND', 'LAST_ADMIN'],
    example: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  }),
  universalAuth.delete('', 'Remove universal authentication with its client secrets and tokens', {
    field: 'removeUniversalAuth',
    as: 'identityUniversalAuth',
    errors: ['UNIVERSAL_AUTH_NOT_FOUND', 'LAST_ADMIN'],
  }),
];
