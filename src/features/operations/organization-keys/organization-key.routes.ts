import { bodyOf, nextCursor, routesAt } from '../../../rest/route.js';
import { CreateOrganizationKey, SetProjectKey } from './organization-key.rules.js';

const select = 'id organizationId name description isDefault version disabledAt createdAt updatedAt';
const keys = routesAt('/api/v1/organization/keys', { select });
const ofProject = routesAt('/api/v1/projects/{projectId}/key', { select, errors: ['PROJECT_NOT_FOUND'] });
const errors = ['KEY_NOT_FOUND'] as const;

/** Keys of the organization of the token. */
export const organizationKeyRoutes = [
  keys.post('', 'Create a key of the organization', {
    field: 'createOrganizationKey',
    body: CreateOrganizationKey,
    example: { name: 'payments', description: 'Projects of the payments team' },
    errors: ['KEY_NAME_TAKEN'],
  }),
  keys.get('', 'List the keys of the organization', {
    field: 'organizationKeys',
    reply: ({ organizationKeys: { nodes, pageInfo } }) => ({ organizationKeys: nodes, ...nextCursor(pageInfo) }),
  }),
  keys.get('/{keyId}', 'Get a key of the organization', { field: 'organizationKey', errors }),
  keys.post('/{keyId}/rotate', 'Rotate a key of the organization', { field: 'rotateOrganizationKey', errors }),
  keys.post('/{keyId}/disable', 'Disable a key of the organization', {
    field: 'disableOrganizationKey',
    errors: [...errors, 'DEFAULT_KEY'],
  }),
  keys.post('/{keyId}/enable', 'Enable a key of the organization', { field: 'enableOrganizationKey', errors }),
  ofProject.patch('', 'Change the key of a project', {
    field: 'setProjectKey',
    body: bodyOf(SetProjectKey, 'projectId'),
    example: { organizationKeyId: '5f0d5c0a-8f0e-4f6e-9a54-2b1f9c3de001' },
    errors: [...errors, 'KEY_DISABLED'],
  }),
];
