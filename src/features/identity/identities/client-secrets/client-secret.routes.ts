import { bodyOf, routesAt } from '../../../../rest/route.js';
import { CreateClientSecret } from './client-secret.rules.js';

const FIELDS = `id identityId description clientSecretPrefix clientSecretTTL clientSecretNumUses clientSecretNumUsesLimit
  clientSecretLastUsedAt isClientSecretRevoked expiresAt createdAt updatedAt`;

const clientSecrets = routesAt('/api/v1/auth/universal-auth/identities/{identityId}/client-secrets', {
  select: FIELDS,
  errors: ['IDENTITY_NOT_FOUND'],
});

/** Client secrets. */
export const clientSecretRoutes = [
  clientSecrets.post('', 'Create a client secret for a machine identity', {
    sensitive: true,
    field: 'createClientSecret',
    select: `clientSecret clientSecretData { ${FIELDS} }`,
    body: bodyOf(CreateClientSecret, 'identityId'),
    errors: ['UNIVERSAL_AUTH_NOT_FOUND'],
    example: { description: 'deploy pipeline', ttl: 2_592_000, numUsesLimit: 0 },
  }),
  clientSecrets.get('', 'List the client secrets of a machine identity, newest first', {
    field: 'clientSecrets',
    as: 'clientSecretData',
  }),
  clientSecrets.get('/{clientSecretId}', 'Get a client secret, without the secret itself', {
    field: 'clientSecret',
    as: 'clientSecretData',
    errors: ['CLIENT_SECRET_NOT_FOUND'],
  }),
  clientSecrets.post('/{clientSecretId}/revoke', 'Revoke a client secret', {
    field: 'revokeClientSecret',
    errors: ['CLIENT_SECRET_NOT_FOUND', 'LAST_ADMIN'],
  }),
];
