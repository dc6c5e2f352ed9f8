import { z } from 'zod';
import { bodyOf, nextCursor, paging, queryInteger, route, withoutNull } from '../../rest/route.js';
import { CreateToken, RenameToken, TokenValue } from './access-token.rules.js';

// The fields of `tokenData` in the specification, and no others.
const TOKEN = `id identityId createdAt updatedAt authMethod accessTokenTTL accessTokenMaxTTL accessTokenNumUses
  accessTokenNumUsesLimit accessTokenLastUsedAt accessTokenLastRenewedAt isAccessTokenRevoked identityUAClientSecretId
  name accessTokenPeriod subOrganizationId`;

/** Of the right form, with a wrong checksum. */
const EXAMPLE_TOKEN = { accessToken: 'srt_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM' };

const ListQuery = z.strictObject({
  ...paging,
  limit: queryInteger(1, 100)
    .optional()
    .meta({ description: 'At most this many rows, 1 to 100. Without it the list is whole.' }),
  offset: queryInteger(0, 100).optional().meta({ description: 'Leaves out this many rows first, 0 to 100.' }),
});

/** Access tokens. Source: specification, operation 1; behaviour 3.2, 3.3. */
export const accessTokenRoutes = [
  route({
    operation: 1,
    method: 'POST',
    path: '/api/v1/auth/token-auth/identities/{identityId}/tokens',
    summary: 'Create an access token for a machine identity using token authentication',
    sensitive: true,
    body: withoutNull(bodyOf(CreateToken, 'identityId')),
    document: `mutation ($input: CreateAccessTokenInput!) {
      createAccessToken(input: $input) { accessToken expiresIn accessTokenMaxTTL tokenType tokenData { ${TOKEN} } }
    }`,
    variables: ({ params, body }) => ({ input: { identityId: params.identityId, ...body } }),
    reply: ({ createAccessToken }) => createAccessToken,
    errors: ['IDENTITY_NOT_FOUND', 'TOKEN_AUTH_NOT_FOUND', 'ORGANIZATION_NOT_FOUND'],
    example: { name: 'deploy pipeline', organizationSlug: 'web-team' },
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/token-auth/identities/{identityId}/tokens',
    summary: 'List the access tokens of a machine identity, newest change first',
    extension: true,
    query: ListQuery,
    document: `query ($identityId: ID!, $first: Int, $after: String, $offset: Int) {
      accessTokens(identityId: $identityId, first: $first, after: $after, offset: $offset) {
        nodes { ${TOKEN} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ params, query: { limit, cursor, offset } }) => ({
      identityId: params.identityId,
      first: limit,
      after: cursor,
      offset,
    }),
    reply: ({ accessTokens }) => ({ tokens: accessTokens.nodes, ...nextCursor(accessTokens.pageInfo) }),
    errors: ['IDENTITY_NOT_FOUND'],
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/token-auth/tokens/{tokenId}',
    summary: 'Get an access token, without the token itself',
    extension: true,
    document: `query ($id: ID!) { accessToken(id: $id) { ${TOKEN} } }`,
    variables: ({ params }) => ({ id: params.tokenId }),
    reply: ({ accessToken }) => ({ token: accessToken }),
    errors: ['TOKEN_NOT_FOUND'],
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/auth/token-auth/tokens/{tokenId}',
    summary: 'Rename an access token',
    extension: true,
    body: bodyOf(RenameToken, 'id'),
    document: `mutation ($input: RenameAccessTokenInput!) { renameAccessToken(input: $input) { token { ${TOKEN} } } }`,
    variables: ({ params, body }) => ({ input: { id: params.tokenId, ...body } }),
    reply: ({ renameAccessToken }) => ({ token: renameAccessToken.token }),
    errors: ['TOKEN_NOT_FOUND'],
    example: { name: 'deploy pipeline, new cluster' },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/token-auth/tokens/{tokenId}/revoke',
    summary: 'Revoke an access token',
    extension: true,
    document: `mutation ($input: RevokeAccessTokenInput!) { revokeAccessToken(input: $input) { message } }`,
    variables: ({ params }) => ({ input: { id: params.tokenId } }),
    reply: ({ revokeAccessToken }) => ({ message: revokeAccessToken.message }),
    errors: ['TOKEN_NOT_FOUND'],
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/token/renew',
    summary: 'Renew the access token that you hold',
    extension: true,
    anonymous: true,
    sensitive: true,
    body: TokenValue,
    document: `mutation ($input: HeldAccessTokenInput!) {
      renewAccessToken(input: $input) { accessToken expiresIn accessTokenMaxTTL tokenType }
    }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ renewAccessToken }) => renewAccessToken,
    example: EXAMPLE_TOKEN,
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/token/revoke',
    summary: 'Revoke the access token that you hold',
    extension: true,
    anonymous: true,
    body: TokenValue,
    document: `mutation ($input: HeldAccessTokenInput!) { revokeHeldAccessToken(input: $input) { message } }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ revokeHeldAccessToken }) => ({ message: revokeHeldAccessToken.message }),
    example: EXAMPLE_TOKEN,
  }),
];
