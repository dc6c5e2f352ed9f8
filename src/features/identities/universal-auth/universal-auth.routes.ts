import { bodyOf, route } from '../../../rest/route.js';
import { AttachUniversalAuth, UpdateUniversalAuth } from './universal-auth.rules.js';

const PATH = '/api/v1/auth/universal-auth/identities/{identityId}';

const FIELDS = `identityId clientId clientSecretTrustedIps { ipAddress } accessTokenTrustedIps { ipAddress }
  accessTokenTTL accessTokenMaxTTL accessTokenNumUsesLimit createdAt updatedAt`;

const NOT_ATTACHED = ['IDENTITY_NOT_FOUND', 'UNIVERSAL_AUTH_NOT_FOUND'] as const;

/** Universal-auth configurations. Source: behaviour 3.3, for the other way in. */
export const universalAuthRoutes = [
  route({
    method: 'POST',
    path: PATH,
    summary: 'Attach universal authentication to a machine identity',
    extension: true,
    body: bodyOf(AttachUniversalAuth, 'identityId'),
    document: `mutation ($input: AttachUniversalAuthInput!) { attachUniversalAuth(input: $input) { universalAuth { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { identityId: params.identityId, ...body } }),
    reply: ({ attachUniversalAuth }) => ({ identityUniversalAuth: attachUniversalAuth.universalAuth }),
    errors: ['IDENTITY_NOT_FOUND', 'UNIVERSAL_AUTH_EXISTS'],
    example: { clientSecretTrustedIps: [{ ipAddress: '10.0.0.0/8' }], accessTokenTTL: 3_600 },
  }),
  route({
    method: 'GET',
    path: PATH,
    summary: 'Get the universal-auth configuration of a machine identity',
    extension: true,
    document: `query ($identityId: ID!) { identityUniversalAuth(identityId: $identityId) { ${FIELDS} } }`,
    variables: ({ params }) => ({ identityId: params.identityId }),
    reply: ({ identityUniversalAuth }) => ({ identityUniversalAuth }),
    errors: NOT_ATTACHED,
  }),
  route({
    method: 'PATCH',
    path: PATH,
    summary: 'Change the universal-auth configuration of a machine identity',
    extension: true,
    body: bodyOf(UpdateUniversalAuth, 'identityId'),
    document: `mutation ($input: UpdateUniversalAuthInput!) { updateUniversalAuth(input: $input) { universalAuth { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { identityId: params.identityId, ...body } }),
    reply: ({ updateUniversalAuth }) => ({ identityUniversalAuth: updateUniversalAuth.universalAuth }),
    errors: NOT_ATTACHED,
    example: { accessTokenTTL: 3_600, accessTokenNumUsesLimit: 100 },
  }),
  route({
    method: 'DELETE',
    path: PATH,
    summary: 'Remove universal authentication with its client secrets and tokens',
    extension: true,
    document: `mutation ($input: RemoveUniversalAuthInput!) { removeUniversalAuth(input: $input) { universalAuth { ${FIELDS} } } }`,
    variables: ({ params }) => ({ input: { identityId: params.identityId } }),
    reply: ({ removeUniversalAuth }) => ({ identityUniversalAuth: removeUniversalAuth.universalAuth }),
    errors: NOT_ATTACHED,
  }),
];
