import { z } from 'zod';
import { bodyOf, nextCursor, paging, route } from '../../rest/route.js';
import { CreateIdentity, UpdateIdentity } from './identity.rules.js';

const FIELDS =
  'id name organizationId role hasTokenAuth hasUniversalAuth authMethods isInstallationAdmin createdAt updatedAt';

/** Machine identities. Source: behaviour 10 (Identities). */
export const identityRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/identities',
    summary: 'Create a machine identity',
    extension: true,
    body: CreateIdentity,
    document: `mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { ${FIELDS} } } }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ createIdentity }) => ({ identity: createIdentity.identity }),
    errors: ['ORGANIZATION_NOT_FOUND'],
    example: { name: 'deploy pipeline', organizationId: '9f1c6f5e-7c1b-4a53-9d0a-5f0a6d6c2b11', role: 'member' },
  }),
  route({
    method: 'GET',
    path: '/api/v1/identities',
    summary: 'List the machine identities of the organization',
    extension: true,
    query: z.strictObject({
      orgId: z.string().optional().meta({ description: 'Your organization; any other is not found.' }),
      ...paging,
    }),
    document: `query ($organizationId: ID, $first: Int, $after: String) {
      identities(organizationId: $organizationId, first: $first, after: $after) {
        nodes { ${FIELDS} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ query }) => ({ organizationId: query.orgId, first: query.limit, after: query.cursor }),
    reply: ({ identities }) => ({ identities: identities.nodes, ...nextCursor(identities.pageInfo) }),
    errors: ['ORGANIZATION_NOT_FOUND'],
  }),
  route({
    method: 'GET',
    path: '/api/v1/identities/{identityId}',
    summary: 'Get a machine identity',
    extension: true,
    document: `query ($id: ID!) { identity(id: $id) { ${FIELDS} } }`,
    variables: ({ params }) => ({ id: params.identityId }),
    reply: ({ identity }) => ({ identity }),
    errors: ['IDENTITY_NOT_FOUND'],
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/identities/{identityId}',
    summary: 'Rename a machine identity or change its role',
    extension: true,
    body: bodyOf(UpdateIdentity, 'id'),
    document: `mutation ($input: UpdateIdentityInput!) { updateIdentity(input: $input) { identity { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { id: params.identityId, ...body } }),
    reply: ({ updateIdentity }) => ({ identity: updateIdentity.identity }),
    errors: ['IDENTITY_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
    example: { name: 'release pipeline', role: 'no-access' },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/identities/{identityId}',
    summary: 'Delete a machine identity with its memberships and tokens',
    extension: true,
    document: `mutation ($input: DeleteIdentityInput!) { deleteIdentity(input: $input) { identity { ${FIELDS} } } }`,
    variables: ({ params }) => ({ input: { id: params.identityId } }),
    reply: ({ deleteIdentity }) => ({ identity: deleteIdentity.identity }),
    errors: ['IDENTITY_NOT_FOUND', 'LAST_ADMIN'],
  }),
];
