import * as z from 'zod';
import { bodyOf, paging, queryInteger, routesAt, withoutNull } from '../../../rest/route.js';
import { CreateToken, RenameToken, TokenValue } from './access-token.rules.js';

// The fields of `tokenData` in operation 1 of the specification, and no others.
const TOKEN = `id identityId createdAt updatedAt authMethod accessTokenTTL: ttlSeconds accessTokenMaxTTL: maxTtlSeconds
  accessTokenNumUses: useCount accessTokenNumUsesLimit: useLimit accessTokenLastUsedAt: lastUsedAt
  accessTokenLastRenewedAt: lastRenewedAt isAccessTokenRevoked: isRevoked identityUAClientSecretId: clientSecretId
  name accessTokenPeriod: periodSeconds subOrganizationId`;

/** Well-formed, with a wrong checksum. */
const EXAMPLE_TOKEN = { accessToken: 'srt_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM' };

const ListQuery = z.strictObject({
  ...paging,
  limit: queryInteger(1, 100)
    .optional()
    .meta({ description: 'Maximum number of tokens to return, 1 to 100. Without it all are returned.' }),
  offset: queryInteger(0, 100).optional().meta({ description: 'Number of tokens to skip, 0 to 100.' }),
});

const tokens = routesAt('/api/v1/auth', { select: TOKEN });

/** Access tokens. Source: operation 1 of the specification. */
export const accessTokenRoutes = [
  tokens.post(
    '/token-auth/identities/{identityId}/tokens',
    'Create an access token for a machine identity using token authentication',
    {
      operation: 1,
      sensitive: true,
      field: 'createAccessToken',
      select: `accessToken expiresIn accessTokenMaxTTL tokenType tokenData { ${TOKEN} }`,
      body: withoutNull(bodyOf(CreateToken, 'identityId')),
      errors: ['IDENTITY_NOT_FOUND', 'TOKEN_AUTH_NOT_FOUND', 'ORGANIZATION_NOT_FOUND', 'LAST_ADMIN'],
      example: { name: 'deploy pipeline', organizationSlug: 'web-team' },
    },
  ),
  tokens.get(
    '/token-auth/identities/{identityId}/tokens',
    'List the access tokens of a machine identity, newest change first',
    {
      field: 'accessTokens',
      as: 'tokens',
      query: ListQuery,
      variables: ({ params, query }) => ({
        identityId: params.identityId,
        first: query.limit,
        after: query.cursor,
        offset: query.offset,
        includeEnded: true,
      }),
      errors: ['IDENTITY_NOT_FOUND'],
    },
  ),
  tokens.get('/token-auth/tokens/{tokenId}', 'Get an access token, without the token itself', {
    field: 'accessToken',
    as: 'token',
    errors: ['TOKEN_NOT_FOUND'],
  }),
  tokens.patch('/token-auth/tokens/{tokenId}', 'Rename an access token', {
    field: 'renameAccessToken',
    body: bodyOf(RenameToken, 'id'),
    errors: ['TOKEN_NOT_FOUND'],
    example: { name: 'deploy pipeline, new cluster' },
  }),
  tokens.post('/token-auth/tokens/{tokenId}/revoke', 'Revoke an access token', {
    field: 'revokeAccessToken',
    select: 'message',
    errors: ['TOKEN_NOT_FOUND', 'LAST_ADMIN'],
  }),
  tokens.post('/token/renew', 'Renew the access token that you hold', {
    anonymous: true,
    sensitive: true,
    field: 'renewAccessToken',
    select: 'accessToken expiresIn accessTokenMaxTTL tokenType',
    body: TokenValue,
    example: EXAMPLE_TOKEN,
  }),
  tokens.post('/token/revoke', 'Revoke the access token that you hold', {
    anonymous: true,
    field: 'revokeHeldAccessToken',
    select: 'message',
    body: TokenValue,
    errors: ['LAST_ADMIN'],
    example: EXAMPLE_TOKEN,
  }),
  tokens.post('/checkAuth', 'Check that a token is valid (older path)', {
    deprecated: true,
    field: 'viewer',
    reads: true,
    select: 'kind',
    reply: () => ({ message: 'The token is valid.' }),
  }),
];
