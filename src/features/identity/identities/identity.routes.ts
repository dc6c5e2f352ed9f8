import * as z from 'zod';
import { bodyOf, type Data, paging, routesAt } from '../../../rest/route.js';
import { roleToInput, withRole } from '../organizations/public.js';
import { CreateIdentity, UpdateIdentity } from './identity.rules.js';

const identities = routesAt('/api/v1/identities', {
  select:
    'id name organizationId projectId role: roleSlug metadata { key value } hasTokenAuth hasUniversalAuth authMethods isInstallationAdmin hasDeleteProtection createdAt updatedAt',
});

/** A machine identity, which stands in itself as a member of the organization, too: clients read the one or the other. */
const asMember = ({ identity }: Data): Data => {
  const { id, name, authMethods, hasDeleteProtection, createdAt, updatedAt, organizationId } = identity;
  return {
    identity: {
      ...identity,
      orgId: organizationId,
      identity: { id, name, authMethods, hasDeleteProtection, createdAt, updatedAt },
    },
  };
};

/** Machine identities. */
export const identityRoutes = [
  identities.post('', 'Create a machine identity', {
    field: 'createIdentity',
    body: withRole(CreateIdentity),
    variables: ({ body }) => ({ input: roleToInput(body) }),
    errors: ['ORGANIZATION_NOT_FOUND', 'PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND'],
    example: { name: 'deploy pipeline', organizationId: '9f1c6f5e-7c1b-4a53-9d0a-5f0a6d6c2b11', role: 'member' },
  }),
  identities.get('', 'List the machine identities of the organization', {
    field: 'identities',
    query: z.strictObject({
      orgId: z.string().optional().meta({ description: 'ID of your organization. Any other is 404.' }),
      ...paging,
    }),
    variables: ({ query }) => ({ organizationId: query.orgId, first: query.limit, after: query.cursor }),
    errors: ['ORGANIZATION_NOT_FOUND'],
  }),
  identities.get('/{identityId}', 'Get a machine identity', {
    field: 'identity',
    reply: asMember,
    errors: ['IDENTITY_NOT_FOUND'],
  }),
  identities.get('/details', 'Get the organization of your token', {
    operationId: 'getIdentityDetails',
    field: 'viewer',
    select: 'organization { id name slug }',
    reply: ({ viewer: { organization } }) => ({ identityDetails: { organization } }),
  }),
  identities.patch('/{identityId}', 'Update a machine identity', {
    field: 'updateIdentity',
    body: withRole(bodyOf(UpdateIdentity, 'id')),
    variables: ({ params, body }) => ({ input: { id: params.identityId, ...roleToInput(body) } }),
    errors: ['IDENTITY_NOT_FOUND', 'ROLE_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
    example: { name: 'release pipeline', role: 'no-access' },
  }),
  identities.delete('/{identityId}', 'Delete a machine identity', {
    field: 'deleteIdentity',
    errors: ['IDENTITY_NOT_FOUND', 'DELETE_PROTECTED', 'LAST_ADMIN'],
  }),
];
