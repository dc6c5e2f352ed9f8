import { bodyOf, route } from '../../rest/route.js';
import { AttachTokenAuth, UpdateTokenAuth } from './token-auth.rules.js';

const PATH = '/api/v1/auth/token-auth/identities/{identityId}';
const FIELDS = `identityId accessTokenTrustedIps { ipAddress } accessTokenTTL accessTokenMaxTTL accessTokenNumUsesLimit
  createdAt updatedAt`;

/** Token-auth configurations. Source: behaviour 3.3. */
export const tokenAuthRoutes = [
  route({
    method: 'POST',
    path: PATH,
    summary: 'Attach token authentication to a machine identity',
    extension: true,
    body: bodyOf(AttachTokenAuth, 'identityId'),
    document: `mutation ($input: AttachTokenAuthInput!) { attachTokenAuth(input: $input) { tokenAuth { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { identityId: params.identityId, ...body } }),
    reply: ({ attachTokenAuth }) => ({ identityTokenAuth: attachTokenAuth.tokenAuth }),
    errors: ['IDENTITY_NOT_FOUND', 'TOKEN_AUTH_EXISTS'],
    example: {
      accessTokenTrustedIps: [{ ipAddress: '10.0.0.0/8' }],
      accessTokenTTL: 86_400,
      accessTokenMaxTTL: 604_800,
    },
  }),
  route({
    method: 'GET',
    path: PATH,
    summary: 'Get the token-auth configuration of a machine identity',
    extension: true,
    document: `query ($identityId: ID!) { identityTokenAuth(identityId: $identityId) { ${FIELDS} } }`,
    variables: ({ params }) => ({ identityId: params.identityId }),
    reply: ({ identityTokenAuth }) => ({ identityTokenAuth }),
    errors: ['IDENTITY_NOT_FOUND', 'TOKEN_AUTH_NOT_FOUND'],
  }),
  route({
    method: 'PATCH',
    path: PATH,
    summary: 'Change the token-auth configuration of a machine identity',
    extension: true,
    body: bodyOf(UpdateTokenAuth, 'identityId'),
    document: `mutation ($input: UpdateTokenAuthInput!) { updateTokenAuth(input: $input) { tokenAuth { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { identityId: params.identityId, ...body } }),
    reply: ({ updateTokenAuth }) => ({ identityTokenAuth: updateTokenAuth.tokenAuth }),
    errors: ['IDENTITY_NOT_FOUND', 'TOKEN_AUTH_NOT_FOUND'],
    example: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  }),
  route({
    method: 'DELETE',
    path: PATH,
    summary: 'Remove token authentication and all tokens of a machine identity',
    extension: true,
    document: `mutation ($input: RemoveTokenAuthInput!) { removeTokenAuth(input: $input) { tokenAuth { ${FIELDS} } } }`,
    variables: ({ params }) => ({ input: { identityId: params.identityId } }),
    reply: ({ removeTokenAuth }) => ({ identityTokenAuth: removeTokenAuth.tokenAuth }),
    errors: ['IDENTITY_NOT_FOUND', 'TOKEN_AUTH_NOT_FOUND'],
  }),
];
