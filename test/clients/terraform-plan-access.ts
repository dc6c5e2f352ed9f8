import {
  ANY_IP,
  FOR_A_MONTH,
  IN_DEV,
  NO_FOLDERS,
  NOW,
  PERMANENT,
  type Resource,
  type State,
  UNTIL,
} from './terraform-plan.ts';

/** Identities, what they are in the project, and what belongs to the organization. */
export const inOrganization: readonly Resource[] = [
  {
    name: 'identity',
    create: ({ organization }) => [
      'POST',
      '/api/v1/identities',
      {
        ...{ name: 'machine', hasDeleteProtection: false, organizationId: organization.id, role: 'member' },
        metadata: [{ key: 'team', value: 'shop' }],
      },
    ],
    under: 'identity',
    read: ({ identity }) => [['GET', `/api/v1/identities/${identity.id}`]],
    reads: ({ identity: { id }, organization }) => [
      {
        identity: {
          identity: { id, name: 'machine', authMethods: ['universal-auth'] },
          ...{ role: 'member', orgId: organization.id, metadata: [{ key: 'team', value: 'shop' }] },
        },
      },
    ],
    update: ({ identity }) => [
      'PATCH',
      `/api/v1/identities/${identity.id}`,
      {
        ...{ identityId: identity.id, name: 'robot', hasDeleteProtection: false, role: 'member' },
        metadata: [{ key: 'team', value: 'store' }],
      },
    ],
    readsThen: ({ identity: { id } }) => [
      {
        identity: {
          ...{ identity: { id, name: 'robot', authMethods: ['universal-auth'] }, role: 'member' },
          metadata: [{ key: 'team', value: 'store' }],
        },
      },
    ],
    remove: ({ identity }) => ['DELETE', `/api/v1/identities/${identity.id}`, { identityId: identity.id }],
  },
  {
    name: 'universalAuth',
    create: ({ identity }) => [
      'POST',
      `/api/v1/auth/universal-auth/identities/${identity.id}`,
      {
        ...{ clientSecretTrustedIps: ANY_IP, accessTokenTrustedIps: [{ ipAddress: '127.0.0.1/32' }] },
        ...{ accessTokenTTL: 7_200, accessTokenMaxTTL: 7_200, accessTokenNumUsesLimit: 3, identityId: identity.id },
      },
    ],
    under: 'identityUniversalAuth',
    read: ({ identity }) => [['GET', `/api/v1/auth/universal-auth/identities/${identity.id}`]],
    reads: ({ universalAuth: { clientId } }) => [
      {
        identityUniversalAuth: {
          ...{ clientId, accessTokenTTL: 7_200, accessTokenMaxTTL: 7_200, accessTokenNumUsesLimit: 3 },
          clientSecretTrustedIps: ANY_IP,
          accessTokenTrustedIps: [{ ipAddress: '127.0.0.1/32' }],
        },
      },
    ],
    update: ({ identity }) => [
      'PATCH',
      `/api/v1/auth/universal-auth/identities/${identity.id}`,
      {
        ...{ clientSecretTrustedIps: ANY_IP, accessTokenTrustedIps: ANY_IP, identityId: identity.id },
        ...{ accessTokenTTL: 3_600, accessTokenMaxTTL: 7_200, accessTokenNumUsesLimit: 0 },
      },
    ],
    readsThen: ({ universalAuth: { clientId } }) => [
      { identityUniversalAuth: { clientId, accessTokenTTL: 3_600, accessTokenNumUsesLimit: 0 } },
    ],
    remove: ({ identity }) => [
      'DELETE',
      `/api/v1/auth/universal-auth/identities/${identity.id}`,
      { identityId: identity.id },
    ],
  },
  {
    name: 'clientSecret',
    create: ({ identity }) => [
      'POST',
      `/api/v1/auth/universal-auth/identities/${identity.id}/client-secrets`,
      { identityId: identity.id, description: 'of Terraform', numUsesLimit: 0, ttl: 86_400 },
    ],
    under: 'clientSecretData',
    read: (at) => [['GET', `${clientSecret(at)}`]],
    reads: ({ clientSecret: { id } }) => [
      {
        clientSecretData: {
          ...{ id, description: 'of Terraform', clientSecretNumUses: 0, clientSecretNumUsesLimit: 0 },
          ...{ clientSecretTTL: 86_400, isClientSecretRevoked: false },
        },
      },
    ],
    remove: (at) => [
      'POST',
      `${clientSecret(at)}/revoke`,
      { identityId: at.identity.id, clientSecretId: at.clientSecret.id },
    ],
    readsAfter: { clientSecretData: { isClientSecretRevoked: true } },
  },
  {
    name: 'membership',
    create: (at) => [
      'POST',
      membership(at),
      {
        ...{ projectId: at.project.id, identityId: at.identity.id },
        roles: [
          { role: 'tester', ...PERMANENT },
          { role: 'viewer', ...FOR_A_MONTH },
        ],
      },
    ],
    under: 'identityMembership',
    read: (at) => [
      ['GET', membership(at)],
      ['GET', `/api/v2/workspace/identity-memberships/${at.membership.id}`],
    ],
    reads: ({ membership: { id }, identity, project }) => {
      const identityMembership = {
        ...{ id, identity: { id: identity.id, name: 'machine' }, project: { id: project.id } },
        roles: [
          { role: 'tester', isTemporary: false, temporaryAccessStartTime: null },
          { role: 'viewer', ...UNTIL },
        ],
      };
      return [{ identityMembership }, { identityMembership }];
    },
    update: (at) => [
      'PATCH',
      membership(at),
      {
        ...{ projectId: at.project.id, identityId: at.identity.id },
        roles: [{ role: 'tester', ...PERMANENT }],
      },
    ],
    readsThen: ({ membership: { id } }) => {
      const roles = [{ role: 'tester', isTemporary: false }];
      return [{ identityMembership: { id, roles } }, { identityMembership: { id, roles } }];
    },
    remove: (at) => ['DELETE', membership(at), { projectId: at.project.id, identityId: at.identity.id }],
  },
  {
    name: 'privilege',
    create: ({ project, identity }) => [
      'POST',
      '/api/v2/identity-project-additional-privilege',
      {
        ...{ projectId: project.id, identityId: identity.id, slug: 'extra', permissions: [NO_FOLDERS, IN_DEV] },
        type: PERMANENT,
      },
    ],
    under: 'privilege',
    read: ({ privilege }) => [['GET', `/api/v2/identity-project-additional-privilege/${privilege.id}`]],
    reads: ({ privilege: { id } }) => [
      { privilege: { ...FOR_GOOD, id, slug: 'extra', permissions: [NO_FOLDERS, IN_DEV] } },
    ],
    update: ({ privilege }) => [
      'PATCH',
      `/api/v2/identity-project-additional-privilege/${privilege.id}`,
      { ID: privilege.id, slug: 'more', permissions: [IN_DEV], type: FOR_A_MONTH },
    ],
    readsThen: ({ privilege: { id } }) => [{ privilege: { ...UNTIL, id, slug: 'more', permissions: [IN_DEV] } }],
    remove: ({ project, identity }) => [
      'DELETE',
      '/api/v1/additional-privilege/identity',
      { projectSlug: project.slug, identityId: identity.id, privilegeSlug: 'more' },
    ],
  },
  {
    name: 'olderPrivilege',
    create: ({ project, identity }) => [
      'POST',
      '/api/v1/additional-privilege/identity/permanent',
      {
        ...{ projectSlug: project.slug, identityId: identity.id, slug: 'older' },
        privilegePermission: {
          ...{ actions: ['read', 'edit'], subject: 'secrets' },
          conditions: { environment: 'dev', secretPath: { $glob: '/app' } },
        },
      },
    ],
    under: 'privilege',
    read: ({ project, identity }) => [
      ['GET', `/api/v1/additional-privilege/identity/older?projectSlug=${project.slug}&identityId=${identity.id}`],
    ],
    reads: ({ olderPrivilege: { id } }) => [
      {
        privilege: {
          ...{ ...FOR_GOOD, id, slug: 'older' },
          permissions: ['read', 'edit'].map((action) => ({
            ...{ action, subject: 'secrets' },
            conditions: { environment: 'dev', secretPath: { $glob: '/app' } },
          })),
        },
      },
    ],
    update: ({ project, identity }) => [
      'PATCH',
      '/api/v1/additional-privilege/identity',
      {
        ...{ projectSlug: project.slug, identityId: identity.id, privilegeSlug: 'older' },
        privilegeDetails: {
          ...{ slug: 'older', isTemporary: false, temporaryAccessStartTime: NOW },
          privilegePermission: { actions: ['read'], subject: 'secrets', conditions: { environment: 'dev' } },
        },
      },
    ],
    readsThen: ({ olderPrivilege: { id } }) => [
      {
        privilege: {
          ...{ ...FOR_GOOD, id, slug: 'older' },
          permissions: [{ action: 'read', subject: 'secrets', conditions: { environment: 'dev' } }],
        },
      },
    ],
    remove: ({ project, identity }) => [
      'DELETE',
      '/api/v1/additional-privilege/identity',
      { projectSlug: project.slug, identityId: identity.id, privilegeSlug: 'older' },
    ],
  },
  {
    name: 'organizationRole',
    create: () => [
      'POST',
      '/api/v1/organization/roles',
      {
        ...{ slug: 'manager', name: 'Manager', description: 'of projects' },
        permissions: [{ subject: 'workspace', action: ['create'], inverted: false }],
      },
    ],
    under: 'role',
    read: ({ organizationRole }) => [
      ['GET', `/api/v1/organization/roles/${organizationRole.id}`],
      ['GET', '/api/v1/organization/roles/slug/manager'],
    ],
    reads: ({ organizationRole: { id } }) => {
      const role = {
        ...{ id, slug: 'manager', name: 'Manager', description: 'of projects' },
        permissions: [{ subject: 'workspace', action: ['create'], inverted: false }],
      };
      return [{ role }, { role }];
    },
    update: ({ organizationRole }) => [
      'PATCH',
      `/api/v1/organization/roles/${organizationRole.id}`,
      {
        ...{ RoleId: organizationRole.id, slug: 'manager', name: 'Managers', description: 'of projects' },
        permissions: [{ subject: 'groups', action: ['read', 'edit'], inverted: false }],
      },
    ],
    readsThen: ({ organizationRole: { id } }) => {
      const role = { id, name: 'Managers', permissions: [{ subject: 'groups', action: ['read', 'edit'] }] };
      return [{ role }, { role }];
    },
    remove: ({ organizationRole }) => ['DELETE', `/api/v1/organization/roles/${organizationRole.id}`],
  },
  {
    name: 'group',
    create: () => ['POST', '/api/v1/groups', { name: 'Team', slug: 'team', role: 'manager' }],
    read: ({ group }) => [
      ['GET', `/api/v1/groups/${group.id}`],
      ['GET', '/api/v1/groups'],
    ],
    reads: ({ group: { id }, organization, organizationRole }) => {
      const group = {
        ...{ id, orgId: organization.id, name: 'Team', slug: 'team' },
        ...{ role: 'custom', customRoleSlug: 'manager', roleId: organizationRole.id },
      };
      return [group, [group]];
    },
    update: ({ group }) => [
      'PATCH',
      `/api/v1/groups/${group.id}`,
      { ID: group.id, name: 'Crew', slug: 'crew', role: 'member' },
    ],
    readsThen: ({ group: { id } }) => {
      const group = { id, name: 'Crew', slug: 'crew', role: 'member', customRoleSlug: null };
      return [group, [group]];
    },
    remove: ({ group }) => ['DELETE', `/api/v1/groups/${group.id}`],
  },
  {
    name: 'groupMember',
    create: ({ group, identity }) => ['POST', `/api/v1/groups/${group.id}/machine-identities/${identity.id}`],
    read: ({ group }) => [['GET', `/api/v1/groups/${group.id}/machine-identities`]],
    reads: ({ identity: { id } }) => [{ machineIdentities: [{ id, name: 'machine', isPartOfGroup: true }] }],
    readsThen: ({ identity: { id } }) => [{ machineIdentities: [{ id, name: 'robot', isPartOfGroup: true }] }],
    remove: ({ group, identity }) => ['DELETE', `/api/v1/groups/${group.id}/machine-identities/${identity.id}`],
    readsAfter: { machineIdentities: [] },
  },
  {
    name: 'projectGroup',
    create: (at) => [
      'POST',
      projectGroup(at),
      { GroupIdOrName: at.group.id, projectId: at.project.id, roles: [{ role: 'tester', ...PERMANENT }] },
    ],
    under: 'groupMembership',
    read: (at) => [['GET', projectGroup(at)]],
    reads: ({ projectGroup: { id }, group }) => [
      {
        groupMembership: {
          ...{ id, groupId: group.id },
          roles: [{ role: 'custom', customRoleSlug: 'tester', isTemporary: false, temporaryAccessStartTime: null }],
        },
      },
    ],
    update: (at) => [
      'PATCH',
      projectGroup(at),
      { projectId: at.project.id, groupId: at.group.id, roles: [{ role: 'viewer', ...FOR_A_MONTH }] },
    ],
    readsThen: ({ projectGroup: { id } }) => [{ groupMembership: { id, roles: [{ role: 'viewer', ...UNTIL }] } }],
    remove: (at) => ['DELETE', projectGroup(at), { projectId: at.project.id, groupId: at.group.id }],
  },
  {
    name: 'template',
    create: ({ identity }) => [
      'POST',
      '/api/v1/project-templates',
      {
        ...{ name: 'web', description: '', type: 'secret-manager', roles: [TEMPLATE_ROLE] },
        environments: [{ name: 'Production', slug: 'prod', position: 1 }],
        identities: [{ identityId: identity.id, roles: ['tester'] }],
        groups: [{ groupSlug: 'team', roles: ['viewer'] }],
      },
    ],
    under: 'projectTemplate',
    read: ({ template }) => [['GET', `/api/v1/project-templates/${template.id}`]],
    reads: ({ template: { id }, identity }) => [
      {
        projectTemplate: {
          ...{ id, name: 'web', description: '', type: 'secret-manager' },
          roles: expect.arrayContaining([expect.objectContaining(TEMPLATE_ROLE)]),
          environments: [{ name: 'Production', slug: 'prod', position: 1 }],
          identities: [{ identityId: identity.id, roles: ['tester'] }],
          groups: [{ groupSlug: 'team', roles: ['viewer'] }],
        },
      },
    ],
    update: ({ template, identity }) => [
      'PATCH',
      `/api/v1/project-templates/${template.id}`,
      {
        ...{ id: template.id, name: 'web', description: 'of the shop', type: 'secret-manager' },
        ...{ roles: [TEMPLATE_ROLE], environments: [], users: [], groups: [] },
        identities: [{ identityId: identity.id, roles: ['tester'] }],
      },
    ],
    readsThen: ({ template: { id }, identity }) => [
      {
        projectTemplate: {
          ...{ id, description: 'of the shop', environments: [], users: [], groups: [] },
          roles: expect.arrayContaining([expect.objectContaining(TEMPLATE_ROLE)]),
          identities: [{ identityId: identity.id, roles: ['tester'] }],
        },
      },
    ],
    remove: ({ template }) => ['DELETE', `/api/v1/project-templates/${template.id}`],
  },
];

const TEMPLATE_ROLE = { name: 'Tester', slug: 'tester', permissions: [IN_DEV] };
const FOR_GOOD = { isTemporary: false, temporaryMode: null, temporaryRange: null, temporaryAccessStartTime: null };

const membership = ({ project, identity }: State): string =>
  `/api/v2/workspace/${project.id}/identity-memberships/${identity.id}`;
const projectGroup = ({ project, group }: State): string => `/api/v2/workspace/${project.id}/groups/${group.id}`;
const clientSecret = ({ identity, clientSecret: { id } }: State): string =>
  `/api/v1/auth/universal-auth/identities/${identity.id}/client-secrets/${id}`;
