import { type GraphQLOperation, powerless } from '../operation.js';

const WHAT = { subject: 'SECRETS', action: 'READ_VALUE', fields: { environment: 'dev', secretPath: '/' } };

const IN_ORGANIZATION = { subject: 'GROUPS', action: 'ADD_MEMBERS', fields: { groupSlug: 'ops' } };

/** Questions about who may do what. */
export const accessReview: readonly GraphQLOperation[] = [
  {
    field: 'explainAccess',
    args: { projectId: '$project', userId: '$user', ...WHAT },
    audit: 'access:explain',
    saysNoOf: ['user', 'identity'],
    denial: powerless('role:read'),
  },
  {
    field: 'effectivePermissions',
    args: { projectId: '$project', identityId: '$identity' },
    audit: 'access:effective',
    saysNoOf: ['user', 'identity'],
    denial: powerless('role:read'),
  },
  {
    field: 'can',
    args: { checks: [{ projectId: '$project', identityId: '$identity', ...WHAT }] },
    audit: 'access:check',
    saysNoOf: ['user', 'identity'],
    denial: powerless('role:read'),
  },
  {
    field: 'accessAt',
    args: { projectId: '$project', ...WHAT },
    audit: 'access:holders',
    denial: powerless('role:read'),
  },
  {
    field: 'explainOrganizationAccess',
    args: { identityId: '$identity', ...IN_ORGANIZATION },
    audit: 'access:explain',
    saysNoOf: ['user', 'identity'],
    denial: powerless('role:read'),
  },
  {
    field: 'canInOrganization',
    args: { checks: [{ userId: '$user', ...IN_ORGANIZATION }] },
    audit: 'access:check',
    saysNoOf: ['user', 'identity'],
    denial: powerless('role:read'),
  },
];
