import { NEW_CERTIFICATE, NEW_PKCS12, NEW_REQUEST, OUTSIDE_REQUEST, PKCS12_PASSWORD } from '../certificates/own.js';
import { REQUIREMENTS } from '../password-rules.js';
import { CANARY } from '../world.js';
import { type FieldRow, powerless, viewer } from './operation.js';

/** Of the installation admin. They have tests of their own. */
export const OF_INSTALLATION: readonly string[] = [
  ...['createOrganization', 'pauseJobKind', 'resumeJobKind'],
  ...['verifyAuditTrail', 'auditTrailVerification', 'auditTrailVerifications'],
];

/** What shows the schema, to everybody. */
export const OF_SCHEMA: readonly string[] = ['_service'];

const DESCRIBE = powerless('secrets:describeSecret');
const READ_ROTATION = powerless('secret-rotation:read');
const CONNECT = viewer('app-connections:connect-app-connections');
const EDIT_IDENTITY = viewer('identity:edit');
const CREATE_TOKEN = viewer('identity:create-token');
const REVOKE_AUTH = viewer('identity:revoke-auth');
const READ_ALERT = viewer('pki-alerts:read');
const READ_KEY = viewer('certificates:read-private-key');
const EDIT_SUB = viewer('sub-organization:edit');
const READ_TEMPLATE = powerless('project-templates:read');
const EDIT_MEMBER = viewer('member:edit');

/** Questions about accounts: who is not there has no rights. */
const OF_ACCOUNT = { denial: powerless('role:read'), saysNoOf: ['user', 'identity'] } as const;
/** The credential in the body says who acts. */
const OF_HOLDER = { denial: null, actor: 'identity' } as const;
const ON_SECRETS = { subject: 'SECRETS', action: 'READ_VALUE', fields: { environment: 'dev', secretPath: '/' } };
const ON_GROUPS = { subject: 'GROUPS', action: 'ADD_MEMBERS', fields: { groupSlug: 'ops' } };

/** For names that are unique in an organization: a caller can send the requests of both interfaces. */
const OTHER_NAME = 'other-interface';

const READER = { name: 'Reader', slug: 'reader', description: CANARY };
const READ_VALUES = { subject: 'SECRETS', action: ['READ_VALUE'], conditions: { environment: { is: 'dev' } } };
const SECRETS_OF_DEV = { subject: 'secrets', conditions: { environment: 'dev' } };
const PRIVILEGE = { projectId: '$project', memberKind: 'IDENTITY', memberId: '$identity' };

const WEBHOOK = { url: `https://example.com/${CANARY}`, signingSecret: CANARY };
const EMAIL = { recipients: [`${CANARY}@example.org`] };
const WEBHOOK_IN_REST = { channelType: 'webhook', config: WEBHOOK, enabled: true };
const EMAIL_IN_REST = { channelType: 'email', config: EMAIL, enabled: true };

const METADATA = [{ key: 'team', value: CANARY }];
const SECRET = {
  secretValue: `${CANARY} value`,
  secretComment: `${CANARY} comment`,
  secretMetadata: [{ key: 'owner', value: `${CANARY} metadata` }],
  tagIds: ['$tag'],
  secretReminderRecipients: ['$user'],
};

const TOKEN = {
  parameters: { tokenName: CANARY, permissionGrants: [{ permissionSet: 'JOB_VIEWER' }] },
  secretsMapping: { serviceToken: 'NEW_TOKEN' },
};
const ROTATION = {
  args: {
    ...{ name: 'analytics', description: CANARY, environment: 'prod', connectionId: '$rotationConnection' },
    ...{ rotationInterval: 30, rotateAtUtc: { hours: 2, minutes: 30 }, content: { datatoolServiceToken: TOKEN } },
  },
  inRest: {
    parameters: { ...TOKEN.parameters, permissionGrants: [{ permissionSet: 'job_viewer' }] },
    secretsMapping: TOKEN.secretsMapping,
  },
};
const ROTATE = { denial: viewer('secret-rotation:rotate-secrets') };
const PUBLISHED = { alsoLeaves: ['secret:rotate', 'secret-rotation:publish'] } as const;
/** What the job does with the values of the project. */
const RESEALED = { leavesLater: ['project-reencryption:reseal', 'project-reencryption:finish'] } as const;

/** What does not follow from the names of root fields and of what they take. */
export const FIELDS: Readonly<Record<string, FieldRow>> = {
  // Who may do what.
  explainAccess: { args: { userId: '$user', ...ON_SECRETS }, audit: 'access:explain', ...OF_ACCOUNT },
  effectivePermissions: { args: { identityId: '$identity' }, audit: 'access:effective', ...OF_ACCOUNT },
  can: {
    args: { checks: [{ projectId: '$project', identityId: '$identity', ...ON_SECRETS }] },
    audit: 'access:check',
    ...OF_ACCOUNT,
  },
  accessAt: { args: ON_SECRETS, audit: 'access:holders', denial: powerless('role:read') },
  explainOrganizationAccess: {
    args: { identityId: '$identity', ...ON_GROUPS },
    audit: 'access:explain',
    ...OF_ACCOUNT,
  },
  canInOrganization: { args: { checks: [{ userId: '$user', ...ON_GROUPS }] }, audit: 'access:check', ...OF_ACCOUNT },

  // Machine identities, how they authenticate, and tokens.
  identities: { args: { organizationId: '$organization' } },
  projectIdentities: { audit: 'identity:list', denial: powerless('identity:read') },
  createIdentity: { args: { organizationId: '$organization', projectId: '$project' } },
  updateIdentity: { args: { name: 'other' } },
  attachTokenAuth: {
    args: { identityId: '$otherIdentity', accessTokenTTL: 60 },
    audit: 'identity-token-auth:attach',
    denial: EDIT_IDENTITY,
  },
  updateTokenAuth: { args: { accessTokenTTL: 60 }, audit: 'identity-token-auth:update', denial: EDIT_IDENTITY },
  removeTokenAuth: { audit: 'identity-token-auth:remove', denial: REVOKE_AUTH },
  attachUniversalAuth: {
    args: { identityId: '$otherIdentity', accessTokenTTL: 60 },
    audit: 'identity-universal-auth:attach',
    denial: EDIT_IDENTITY,
  },
  updateUniversalAuth: { args: { accessTokenTTL: 60 }, audit: 'identity-universal-auth:update', denial: EDIT_IDENTITY },
  removeUniversalAuth: { audit: 'identity-universal-auth:remove', denial: REVOKE_AUTH },
  attachOidcAuth: {
    args: {
      identityId: '$otherIdentity',
      issuer: 'https://token.example.com',
      discoveryUrl: 'https://token.example.com',
      subject: CANARY,
      claims: [{ claim: 'repository', values: [CANARY] }],
      sessionClaims: [{ key: 'repository', claim: 'repository' }],
    },
    inRest: {
      oidcDiscoveryUrl: 'https://token.example.com',
      boundIssuer: 'https://token.example.com',
      boundSubject: CANARY,
      boundClaims: { repository: CANARY },
      claimMetadataMapping: { repository: 'repository' },
    },
    audit: 'identity-oidc-auth:attach',
    denial: EDIT_IDENTITY,
  },
  updateOidcAuth: {
    args: { subject: CANARY },
    inRest: { boundSubject: CANARY },
    audit: 'identity-oidc-auth:update',
    denial: EDIT_IDENTITY,
  },
  removeOidcAuth: { audit: 'identity-oidc-auth:remove', denial: REVOKE_AUTH },
  attachKubernetesAuth: {
    args: {
      identityId: '$otherIdentity',
      host: 'https://cluster.example.com',
      reviewerToken: CANARY,
      namespaces: [CANARY],
      audience: CANARY,
    },
    inRest: {
      kubernetesHost: 'https://cluster.example.com',
      tokenReviewerJwt: CANARY,
      allowedNamespaces: CANARY,
      allowedAudience: CANARY,
    },
    audit: 'identity-kubernetes-auth:attach',
    denial: EDIT_IDENTITY,
  },
  updateKubernetesAuth: {
    args: { names: [CANARY] },
    inRest: { allowedNames: CANARY },
    audit: 'identity-kubernetes-auth:update',
    denial: EDIT_IDENTITY,
  },
  removeKubernetesAuth: { audit: 'identity-kubernetes-auth:remove', denial: REVOKE_AUTH },
  createClientSecret: { args: { description: CANARY, ttl: 60, numUsesLimit: 1 }, denial: CREATE_TOKEN },
  revokeClientSecret: { denial: viewer('identity:delete-token') },
  logInWithUniversalAuth: {
    args: { organizationSlug: '$subSlug' },
    audit: 'identity-universal-auth:login',
    ...OF_HOLDER,
  },
  logInWithOidc: {
    args: { identityId: '$platformIdentity', organizationSlug: '$subSlug' },
    audit: 'identity-oidc-auth:login',
    ...OF_HOLDER,
  },
  logInWithKubernetes: {
    args: { identityId: '$platformIdentity', jwt: '$serviceAccountToken', organizationSlug: '$subSlug' },
    audit: 'identity-kubernetes-auth:login',
    ...OF_HOLDER,
  },
  accessTokens: { args: { identityId: '$identity' } },
  viewer: { audit: 'access-token:get', denial: null },
  createAccessToken: { args: { name: CANARY, organizationSlug: '$subSlug' }, denial: CREATE_TOKEN },
  renameAccessToken: { args: { name: CANARY } },
  revokeAccessTokens: { args: { ids: ['$accessToken'] } },
  renewAccessToken: OF_HOLDER,
  revokeHeldAccessToken: { audit: 'access-token:revoke', ...OF_HOLDER },
  personalAccessTokens: { audit: 'access-token:list', denial: EDIT_MEMBER },
  createPersonalAccessToken: {
    args: { name: CANARY, organizationSlug: '$subSlug' },
    audit: 'access-token:create',
    denial: EDIT_MEMBER,
  },

  // Organizations, their users, groups, roles, keys and password rules.
  organization: { args: { id: '$subOrganization' } },
  updateOrganization: { args: { id: '$organization', name: 'Berlin' } },
  deleteOrganization: { denial: viewer('sub-organization:delete') },
  organizationMembers: { args: { organizationId: '$subOrganization' } },
  setOrganizationMember: {
    args: { organizationId: '$subOrganization', userId: '$user', roleSlug: 'admin' },
    denial: EDIT_SUB,
  },
  updateOrganizationMember: { args: { roleSlug: 'member' }, audit: 'organization-member:set' },
  removeOrganizationMember: { args: { organizationId: '$subOrganization', identityId: '$identity' }, denial: EDIT_SUB },
  createUser: { args: { username: 'ada' } },
  updateUser: { args: { username: 'ada' } },
  createGroup: { args: { roleSlug: 'member' } },
  updateGroup: { args: { name: 'Web team' } },
  addGroupMember: { args: { identityId: '$otherIdentity' }, denial: viewer('groups:add-identities') },
  addGroupMembers: { args: { userIds: ['$otherUser'] }, denial: viewer('groups:add-members') },
  removeGroupMember: { args: { userId: '$user' }, denial: viewer('groups:remove-members') },
  removeGroupMembers: { args: { identityIds: ['$identity'] }, denial: viewer('groups:remove-identities') },
  linkGroup: { args: { roleSlug: 'member' } },
  organizationRoleBySlug: { args: { slug: '$organizationRoleSlug' } },
  createOrganizationRole: {
    args: {
      ...READER,
      permissions: [{ subject: 'MEMBER', action: ['ASSIGN_ROLE'], conditions: { role: { is: 'no-access' } } }],
    },
    inRest: {
      slug: OTHER_NAME,
      permissions: [{ subject: 'member', action: 'assign-role', conditions: { role: 'no-access' } }],
    },
  },
  updateOrganizationRole: { args: { slug: 'writer', name: 'Writer', permissions: [] } },
  createOrganizationKey: { args: { description: CANARY }, inRest: { name: OTHER_NAME } },
  setProjectKey: { audit: 'project:set-key', denial: viewer('workspace:edit') },
  createPasswordRule: { args: { description: CANARY, requirements: REQUIREMENTS } },
  updatePasswordRule: { args: { description: CANARY, requirements: { ...REQUIREMENTS, length: 24 } } },

  // Projects, with their environments and tags.
  projectBySlug: { args: { slug: '$projectSlug' } },
  createProject: { args: { description: CANARY }, denial: powerless('workspace:create') },
  updateProject: {
    args: { description: CANARY, secretDetectionIgnoreValues: [CANARY] },
    denial: viewer('settings:edit'),
  },
  environmentBySlug: { args: { slug: 'dev' } },
  createEnvironment: { args: { slug: 'preview' } },
  updateEnvironment: { args: { name: 'Preview', position: 2 } },
  tagBySlug: { args: { slug: '$tagSlug' } },
  createTag: { args: { slug: 'database', color: '#aa0000' } },
  updateTag: { args: { color: '#00aa00' } },

  // Members of projects, their roles and privileges.
  projectMembershipById: { denial: powerless('identity:read') },
  addProjectMember: {
    args: { memberId: '$otherIdentity', memberKind: 'IDENTITY', roles: ['viewer'] },
    inRest: { roles: [{ role: 'viewer' }, { role: '$roleSlug' }] },
    audit: 'project-membership:create',
    denial: viewer('identity:create'),
  },
  addProjectUsers: {
    args: { usernames: ['$otherUsername'], roles: ['viewer', '$roleSlug'] },
    audit: 'project-membership:create',
    denial: viewer('member:create'),
  },
  updateProjectMember: {
    args: { roles: ['$roleSlug'] },
    inRest: { roles: [{ role: '$roleSlug' }] },
    audit: 'project-membership:update',
    denial: EDIT_MEMBER,
  },
  removeProjectMember: { audit: 'project-membership:delete', denial: viewer('member:delete') },
  removeProjectUsers: {
    args: { usernames: ['$username'] },
    audit: 'project-membership:delete',
    denial: viewer('member:delete'),
  },
  projectRole: { args: { projectId: '$project' } },
  projectRoleBySlug: { args: { slug: '$roleSlug' } },
  createProjectRole: {
    args: { ...READER, permissions: [READ_VALUES] },
    inRest: { permissions: [{ ...SECRETS_OF_DEV, action: 'readValue' }] },
  },
  updateProjectRole: { args: { projectId: '$project', slug: 'writer', name: 'Writer', permissions: [] } },
  deleteProjectRole: { args: { projectId: '$project' } },
  additionalPrivileges: { args: PRIVILEGE },
  additionalPrivilegeBySlug: { args: { ...PRIVILEGE, slug: '$privilegeSlug' } },
  createAdditionalPrivilege: {
    args: { ...PRIVILEGE, slug: 'release-week', permissions: [READ_VALUES], term: { range: '7d' } },
    inRest: {
      permissions: [{ ...SECRETS_OF_DEV, action: 'readValue' }],
      privilegePermission: { ...SECRETS_OF_DEV, actions: ['readValue'] },
    },
  },
  updateAdditionalPrivilege: {
    args: { slug: 'after', term: { range: '2h' } },
    inRest: { type: { isTemporary: true, temporaryRange: '2h' } },
  },
  updateAdditionalPrivilegeBySlug: {
    args: { ...PRIVILEGE, slug: '$privilegeSlug', newSlug: 'after' },
    inRest: { privilegeDetails: { isTemporary: false } },
  },
  deleteAdditionalPrivilegeBySlug: { args: { ...PRIVILEGE, slug: '$privilegeSlug' } },

  createAllProjectsMembership: {
    args: { memberKind: 'IDENTITY', memberId: '$otherIdentity', roleSlug: 'viewer', permissions: [READ_VALUES] },
    inRest: { permissions: [{ ...SECRETS_OF_DEV, action: 'readValue' }] },
  },
  updateAllProjectsMembership: { args: { roleSlug: 'member', permissions: [] } },

  // Whole projects: their keys, rescues, copies and templates.
  startProjectReencryption: RESEALED,
  resumeProjectReencryption: RESEALED,
  projectsWithoutAdmin: { audit: 'project:list-without-admin', denial: viewer('workspace:rescue') },
  projectRescues: { args: { projectId: '$lostProject', isActive: true }, saysNoOf: ['lostProject'] },
  rescueProject: {
    args: { reason: 'The only admin has left the company.', range: '30m' },
    denial: viewer('workspace:rescue'),
  },
  revokeProjectRescue: { audit: 'project:revoke-rescue' },
  copyProject: {
    args: {
      parts: ['SETTINGS', 'ENVIRONMENTS', 'FOLDERS', 'ROLES', 'MEMBERS', 'TAGS', 'SECRET_VALUES'],
      // What it changes is recorded in both projects.
      dryRun: true,
    },
    audit: 'project:copy-dry-run',
    denial: powerless('workspace:create'),
  },
  previewProjectTemplate: {
    args: { id: '$projectTemplate' },
    audit: 'project-template:preview',
    denial: READ_TEMPLATE,
  },
  projectTemplateDrift: { audit: 'project-template:drift', denial: READ_TEMPLATE },
  applyProjectTemplate: {
    args: { parts: ['ENVIRONMENTS', 'ROLES', 'MEMBERS'], removes: true },
    denial: viewer('environments:create'),
  },
  createProjectTemplate: {
    args: {
      description: CANARY,
      type: 'SECRET_MANAGER',
      roles: [{ name: 'Reader', slug: 'reader', permissions: [{ subject: 'SECRETS', action: ['READ_VALUE'] }] }],
      environments: [{ name: 'Production', slug: 'prod', position: 1 }],
      identities: [{ identityId: '$otherIdentity', roles: ['reader'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    },
    inRest: { roles: [{ name: 'Reader', slug: 'reader', permissions: [{ subject: 'secrets', action: 'readValue' }] }] },
  },
  updateProjectTemplate: {
    args: {
      description: CANARY,
      users: [{ username: '$otherUsername', roles: ['viewer'] }],
      identities: [{ identityId: '$otherIdentity', roles: ['reader'] }],
    },
  },

  // Certificate authorities, the inventory of certificates, and alerts.
  createCertificateAuthority: {
    args: { kind: 'INTERMEDIATE', parentId: '$certificateAuthority', subject: { commonName: CANARY } },
  },
  activateCertificateAuthority: { args: { id: '$pendingAuthority', certificate: '$authorityAnswer' } },
  updateCertificateAuthority: { args: { name: CANARY, status: 'DISABLED' } },
  renewCertificateAuthority: { args: { validDays: 100 } },
  createCertificateAuthoritySuccessor: {
    args: { name: 'Next', subject: { commonName: CANARY } },
    audit: 'certificate-authority:create',
    denial: viewer('certificate-authorities:edit'),
  },
  signIntermediateCertificate: {
    args: { request: OUTSIDE_REQUEST, metadata: METADATA },
    audit: 'certificate-authority:sign-intermediate',
    denial: viewer('certificate-authorities:create'),
  },
  revokeCertificateAuthority: { args: { id: '$issuedAuthority', reason: 'SUPERSEDED' } },
  certificates: { args: { authorityId: '$certificateAuthority' } },
  certificatePrivateKey: { args: { id: '$certificate' }, audit: 'certificate:read-private-key', denial: READ_KEY },
  certificatePkcs12: {
    args: { id: '$certificate', password: `${CANARY} horse battery` },
    audit: 'certificate:export-pkcs12',
    denial: READ_KEY,
  },
  importCertificate: {
    args: { certificate: NEW_CERTIFICATE.pem, privateKey: NEW_CERTIFICATE.key, metadata: METADATA },
    denial: viewer('certificates:create'),
  },
  importCertificatePkcs12: {
    args: { pkcs12: NEW_PKCS12, password: PKCS12_PASSWORD, metadata: METADATA },
    audit: 'certificate:import',
    denial: viewer('certificates:create'),
  },
  updateCertificate: { args: { metadata: METADATA } },
  revokeCertificate: { args: { reason: 'SUPERSEDED' } },
  createCertificateProfile: { args: { slug: 'new', description: CANARY } },
  updateCertificateProfile: { args: { description: `${CANARY}.`, authorityId: '$certificateAuthority' } },
  deleteCertificateProfile: { args: { id: '$unusedProfile' } },
  issueCertificate: {
    args: { csr: NEW_REQUEST, metadata: METADATA },
    denial: viewer('certificate-profiles:issue-cert'),
  },
  renewCertificate: {
    args: { id: '$issuedCertificate', profileId: '$certificateProfile' },
    denial: viewer('certificates:create'),
  },
  currentCertificate: {
    args: { lineageId: '$issuedCertificate' },
    audit: 'certificate:get',
    denial: viewer('certificates:read'),
  },
  certificateRequests: { args: { certificateId: '$issuedCertificate' } },
  updateCertificateCleaning: { args: { daysAfterExpiry: 90 } },
  previewCertificateAlert: {
    args: { filters: [{ field: 'COMMON_NAME', operator: 'CONTAINS', value: CANARY }], alertBefore: '9999d' },
    audit: 'certificate-alert:preview',
    denial: READ_ALERT,
  },
  certificateAlertMatches: { audit: 'certificate-alert:list-certificates', denial: READ_ALERT },
  alertDecisions: { audit: 'certificate-alert:list-decisions', denial: READ_ALERT },
  alertMessages: { audit: 'certificate-alert:list-messages' },
  alertMessage: { audit: 'certificate-alert:get-message' },
  retryAlertMessage: { audit: 'certificate-alert:retry-message' },
  retryAlertMessages: {
    args: { projectId: '$certificateProject', alertId: '$certificateAlert' },
    audit: 'certificate-alert:retry-messages',
    denial: viewer('pki-alerts:edit'),
  },
  retryNotificationMessages: { audit: 'notification-message:retry-messages', denial: viewer('webhooks:edit') },
  retryIdentityAlertMessages: {
    args: { id: '$identityAlert' },
    audit: 'identity-alert:retry-messages',
    denial: viewer('identity:edit'),
  },
  // REST fails where a channel does not accept a test, and without one tests all: the one that there is is disabled.
  testCertificateAlert: { args: { channelId: '$alertChannel' }, inRest: { channelId: undefined } },
  createCertificateAlert: {
    args: {
      ...{ name: 'Certificates of the shop', description: CANARY, eventType: 'EXPIRATION', alertBefore: '30d' },
      filters: [{ field: 'COMMON_NAME', operator: 'CONTAINS', value: CANARY }],
      channels: [{ config: { webhook: WEBHOOK } }],
    },
    inRest: { channels: [WEBHOOK_IN_REST] },
  },
  updateCertificateAlert: {
    args: { description: `${CANARY} changed`, channels: [{ channelType: 'EMAIL', config: { email: EMAIL } }] },
    inRest: { channels: [EMAIL_IN_REST] },
  },
  identityAlerts: { args: { projectId: '$project', identityId: '$identity' } },
  createIdentityAlert: {
    args: {
      ...{ projectId: '$project', description: CANARY, alertBefore: '30d', isEnabled: false },
      channels: [{ name: CANARY, config: { webhook: WEBHOOK } }],
    },
    inRest: {
      enabled: false,
      ...{ resourceType: 'identity.authentication', eventType: 'identity.authentication.expiry' },
      condition: { alertBefore: '30d', dailyReminder: true },
      channels: [{ name: CANARY, ...WEBHOOK_IN_REST }],
    },
  },
  updateIdentityAlert: {
    args: {
      description: `${CANARY} changed`,
      channels: [{ name: CANARY, channelType: 'EMAIL', config: { email: EMAIL } }],
    },
    inRest: { channels: [{ name: CANARY, ...EMAIL_IN_REST }] },
  },

  // What is sent to others: notifications, changes, and the audit trail, which is read here, too.
  createNotificationChannel: { args: { name: CANARY, kinds: ['SECRET_REMINDER'], config: { webhook: WEBHOOK } } },
  updateNotificationChannel: { args: { config: { email: EMAIL } } },
  notificationMessages: { args: { channelId: '$notificationChannel' } },
  createChangeWebhook: {
    args: {
      ...{ name: CANARY, isEnabled: false, kinds: ['SECRET', 'FOLDER'] },
      ...{ environment: 'prod', secretPath: '/payments/**' },
    },
    inRest: { enabled: false },
  },
  updateChangeWebhook: {
    args: { name: `${CANARY}-renamed`, url: `https://example.org/${CANARY}`, environment: 'dev', kinds: null },
  },
  rotateChangeWebhookSecret: {
    args: { id: '$changeWebhook' },
    audit: 'change-webhook:rotate-secret',
    denial: viewer('webhooks:edit'),
  },
  createAuditSink: {
    args: { name: CANARY, kind: 'OTLP', isEnabled: false, headers: [{ name: 'Authorization', value: CANARY }] },
    inRest: { name: OTHER_NAME, enabled: false },
  },
  updateAuditSink: {
    args: { url: `https://example.org/${CANARY}`, headers: [{ name: 'Authorization', value: CANARY }] },
  },
  auditEvents: { args: { projectId: '$project', actions: ['secret:get'], outcome: 'ALLOWED' }, saysNoOf: ['project'] },
  whatChanged: {
    args: { since: '2026-01-31T12:00:00.000Z' },
    audit: 'audit-event:list-changes',
    denial: powerless('audit-logs:read'),
  },
  createAuditCheckpoint: { args: { maxEvents: 10 } },
  attention: {
    args: { projectId: '$project', kinds: ['JOB_FAILED'] },
    inRest: { kinds: undefined, kind: 'job-failed' },
    audit: 'attention:list',
    denial: null,
  },
  jobs: { args: { projectId: '$project', kind: 'kit:idle', state: 'WAITING' }, saysNoOf: ['project'] },

  // Connections of a project (those of the organization have tests of their own), and rotations of the environment prod.
  appConnectionKinds: { audit: 'app-connection:list-kinds', denial: null },
  appConnections: { args: { projectId: '$project', app: 'DATATOOL' } },
  usableAppConnections: {
    args: { projectId: '$project', app: 'DATATOOL' },
    audit: 'app-connection:list-usable',
    denial: CONNECT,
  },
  appConnectionByName: { args: { app: 'DATATOOL', name: '$connectionName', projectId: '$project' } },
  datatoolProjects: { audit: 'app-connection:list-projects', denial: CONNECT },
  createAppConnection: {
    args: {
      ...{ projectId: '$project', description: CANARY },
      credentials: {
        datatool: { instanceUrl: '$datatoolUrl', accountId: '70403103912345', apiToken: '$datatoolToken' },
      },
    },
    inRest: {
      method: 'api-token',
      credentials: { instanceUrl: '$datatoolUrl', accountId: '70403103912345', apiToken: '$datatoolToken' },
      ...{ isPlatformManagedCredentials: false, gatewayId: null },
    },
    denial: viewer('app-connections:create-app-connections'),
  },
  updateAppConnection: {
    args: {
      ...{ name: 'renamed', description: CANARY },
      credentials: { datatool: { instanceUrl: '$datatoolUrl', apiToken: '$datatoolToken' } },
    },
    // Its project cannot change.
    inRest: { credentials: { apiToken: '$datatoolToken' }, projectId: undefined },
    denial: viewer('app-connections:edit-app-connections'),
  },
  checkAppConnection: { denial: CONNECT },
  deleteAppConnection: { denial: viewer('app-connections:delete-app-connections') },
  secretRotationKinds: { audit: 'secret-rotation:list-kinds', denial: null },
  secretRotationByName: { args: { environment: 'prod', name: '$rotationName' } },
  generatedCredentials: {
    args: { id: '$rotation' },
    audit: 'secret-rotation:read-generated-credentials',
    denial: viewer('secret-rotation:read-generated-credentials'),
  },
  secretRotationAttempts: { args: { id: '$rotation' }, audit: 'secret-rotation:list-attempts', denial: READ_ROTATION },
  credentialDebts: {
    args: { projectId: '$project', connectionId: '$rotationConnection' },
    audit: 'secret-rotation:list-debts',
    denial: READ_ROTATION,
    // Nothing of the project was created with a connection that is not there.
    saysNoOf: ['rotationConnection'],
  },
  giveUpCredentialDebts: {
    args: { ids: ['$credentialDebt'] },
    audit: 'secret-rotation:give-up-debt',
    denial: viewer('secret-rotation:delete'),
  },
  upcomingSecretRotations: { audit: 'secret-rotation:list-upcoming', denial: READ_ROTATION },
  previewSecretRotation: { ...ROTATION, denial: viewer('secret-rotation:create') },
  createSecretRotation: { ...ROTATION, ...PUBLISHED },
  // Its connection cannot change.
  updateSecretRotation: {
    args: { name: 'renamed', description: CANARY, rotationInterval: 14 },
    inRest: { connectionId: undefined },
  },
  moveSecretRotation: { args: { destinationEnvironment: 'staging' }, alsoLeaves: ['secret:move'] },
  rotateSecrets: { args: { id: '$rotation' }, audit: 'secret-rotation:begin', ...ROTATE, ...PUBLISHED },
  rotateManySecrets: {
    args: { projectId: '$project', connectionId: '$rotationConnection' },
    audit: 'secret-rotation:request-many',
    ...ROTATE,
    // Nothing of the project uses a connection that is not there.
    saysNoOf: ['rotationConnection'],
    leavesLater: ['secret-rotation:begin', 'secret:rotate', 'secret-rotation:publish'],
  },
  checkSecretRotation: ROTATE,
  reconcileSecretRotation: {
    args: { id: '$accountRotation' },
    audit: 'secret-rotation:begin',
    ...ROTATE,
    needsHost: true,
  },
  cancelSecretRotationAttempt: { audit: 'secret-rotation:cancel', ...ROTATE },
  deleteSecretRotation: { inRest: { deleteSecrets: true }, alsoLeaves: ['secret:release'] },

  // Folders and imports.
  folderByPath: { args: { path: '/' } },
  folderTree: { audit: 'folder:list', denial: powerless('secret-folders:read') },
  createFolder: { args: { description: CANARY } },
  updateFolder: { args: { name: 'shop', description: CANARY } },
  updateFolders: {
    args: { folders: [{ id: '$folder', name: 'shop', description: CANARY }] },
    inRest: { folders: [{ id: '$folder', environment: 'dev', name: 'shop', description: CANARY }] },
  },
  deleteFolderByName: { args: { name: '$folder', forceDelete: true } },
  createSecretImport: { args: { sourceEnvironment: 'prod' } },
  updateSecretImport: {
    args: { sourceEnvironment: 'prod' },
    inRest: { import: { environment: 'prod', path: '/', position: 1 } },
  },

  // Secrets and their versions.
  createSecret: { args: { secretKey: 'NEW_KEY', ...SECRET } },
  createSecrets: { args: { secrets: [{ secretKey: 'NEW_KEY', ...SECRET }] } },
  updateSecret: { args: SECRET },
  updateSecretByKey: { args: SECRET },
  updateSecrets: { args: { secrets: [{ secretKey: '$secretKey', ...SECRET }] } },
  updateSecretsById: { args: { secrets: [{ id: '$secret', ...SECRET }] } },
  deleteSecrets: { args: { secrets: [{ secretKey: '$secretKey' }] } },
  moveSecrets: { denial: viewer('secrets:delete') },
  copySecrets: { denial: viewer('secrets:create') },
  // Each interface has a format of its own.
  importSecrets: {
    args: { format: 'DOTENV', content: `# ${CANARY} comment\nNEW_KEY="${CANARY} value"` },
    inRest: { format: 'json', content: `{"NEW_KEY": "${CANARY} value"}` },
    denial: viewer('secrets:create'),
  },
  exportSecrets: {
    args: { format: 'YAML', includeComments: true },
    inRest: { format: 'dotenv' },
    audit: 'secret:list',
    denial: DESCRIBE,
  },
  compareSecretVersions: { args: { from: 1, to: 1 }, audit: 'secret-version:compare', denial: DESCRIBE },
  deletedSecrets: { audit: 'secret:list-deleted', denial: DESCRIBE },
  restoreSecrets: { args: { at: '2100-01-01T00:00:00Z' }, audit: 'secret:restore-state' },

  // Questions and changes across folders, environments and projects.
  node: { args: { id: '$folder' }, audit: 'folder:get', denial: null, hidesAs: 'null' },
  nodes: { args: { ids: ['$folder'] }, audit: 'folder:get', denial: null, hidesAs: 'null' },
  _entities: {
    args: { representations: [{ __typename: 'Folder', id: '$folder' }] },
    ...{ audit: 'folder:get', denial: null, hidesAs: 'null' },
  },
  searchSecrets: {
    args: { input: { projectIds: ['$project'], key: { glob: 'KEY_*' }, viewSecretValue: true } },
    audit: 'secret:search',
    denial: DESCRIBE,
  },
  whereUsed: {
    args: { input: { secret: { projectId: '$project', environment: 'dev', secretKey: '$secretKey' } } },
    audit: 'secret:where-used',
    denial: DESCRIBE,
  },
  duplicateValues: {
    args: { input: { projectIds: ['$project'], environments: ['dev'] } },
    audit: 'secret:duplicates',
    denial: powerless('secrets:readValue'),
  },
  compareEnvironments: {
    args: { input: { projectId: '$project', environments: ['dev', 'prod'] } },
    audit: 'secret:compare',
    denial: DESCRIBE,
  },
  secretsWithValue: {
    args: { input: { value: `${CANARY} value`, projectIds: ['$project'], includeFormerVersions: true } },
    inRest: { value: `${CANARY} value`, projectIds: ['$project'] },
    audit: 'secret:find-value',
    denial: powerless('secrets:readValue'),
  },
  replaceValue: {
    args: { likeSecretId: '$secret', projectIds: ['$project'] },
    audit: 'secret:replace',
    denial: viewer('secrets:edit'),
  },
};
