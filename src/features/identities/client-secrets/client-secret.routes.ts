import { z } from 'zod';
import { bodyOf, nextCursor, paging, route } from '../../../rest/route.js';
import { CreateClientSecret } from './client-secret.rules.js';

const SECRETS = '/api/v1/auth/universal-auth/identities/{identityId}/client-secrets';
const SECRET_FIELDS = `id identityId description clientSecretPrefix clientSecretTTL clientSecretNumUses clientSecretNumUsesLimit
  clientSecretLastUsedAt isClientSecretRevoked expiresAt createdAt updatedAt`;

const NOT_ATTACHED = ['IDENTITY_NOT_FOUND', 'UNIVERSAL_AUTH_NOT_FOUND'] as const;
const NO_SECRET = ['IDENTITY_NOT_FOUND', 'CLIENT_SECRET_NOT_FOUND'] as const;

/** Client secrets. Source: behaviour 3.3. */
export const clientSecretRoutes = [
  route({
    method: 'POST',
    path: SECRETS,
    summary: 'Create a client secret for a machine identity',
    extension: true,
    sensitive: true,
    body: bodyOf(CreateClientSecret, 'identityId'),
    document: `mutation ($input: CreateClientSecretInput!) {
      createClientSecret(input: $input) { clientSecret clientSecretData { ${SECRET_FIELDS} } }
    }`,
    variables: ({ params, body }) => ({ input: { identityId: params.identityId, ...body } }),
    reply: ({ createClientSecret }) => createClientSecret,
    errors: NOT_ATTACHED,
    example: { description: 'deploy pipeline', ttl: 2_592_000, numUsesLimit: 0 },
  }),
  route({
    method: 'GET',
    path: SECRETS,
    summary: 'List the client secrets of a machine identity, newest first',
    extension: true,
    query: z.strictObject(paging),
    document: `query ($identityId: ID!, $first: Int, $after: String) {
      clientSecrets(identityId: $identityId, first: $first, after: $after) {
        nodes { ${SECRET_FIELDS} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ params, query }) => ({ identityId: params.identityId, first: query.limit, after: query.cursor }),
    reply: ({ clientSecrets }) => ({ clientSecretData: clientSecrets.nodes, ...nextCursor(clientSecrets.pageInfo) }),
    errors: ['IDENTITY_NOT_FOUND'],
  }),
  route({
    method: 'GET',
    path: `${SECRETS}/{clientSecretId}`,
    summary: 'Get a client secret, without the secret itself',
    extension: true,
    document: `query ($identityId: ID!, $id: ID!) { clientSecret(identityId: $identityId, id: $id) { ${SECRET_FIELDS} } }`,
    variables: ({ params }) => ({ identityId: params.identityId, id: params.clientSecretId }),
    reply: ({ clientSecret }) => ({ clientSecretData: clientSecret }),
    errors: NO_SECRET,
  }),
  route({
    method: 'POST',
    path: `${SECRETS}/{clientSecretId}/revoke`,
    summary: 'Revoke a client secret',
    extension: true,
    document: `mutation ($input: RevokeClientSecretInput!) { revokeClientSecret(input: $input) { clientSecretData { ${SECRET_FIELDS} } } }`,
    variables: ({ params }) => ({ input: { identityId: params.identityId, id: params.clientSecretId } }),
    reply: ({ revokeClientSecret }) => ({ clientSecretData: revokeClientSecret.clientSecretData }),
    errors: NO_SECRET,
  }),
];
