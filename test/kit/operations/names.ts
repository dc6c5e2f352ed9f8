import { CANARY } from '../world.js';
import { type Denial, powerless, type Values, viewer } from './operation.js';

/*
 * How a request comes about. `updateTag` is `update` of a `tag`, so it leaves the audit row `tag:update`. By `NOUNS` the `id` of a tag
 * is `$tag`, and viewers are refused for `tags:edit`. Whatever else the schema requires gets the value that has its name in `VALUES`.
 * A REST route gets what the field that answers it gets. What differs is stated: of a field in `fields.ts`, of a route in `routes.ts`.
 */

/** Who is refused, by the verb in the name of a field. */
type DenialOf = (verb: string) => Denial;

const isRead = (verb: string): boolean => verb === 'get' || verb === 'list';

/** Create and delete take the right of that name, and every other change takes `edit`. */
const rights =
  (subject: string, read: Denial = powerless(`${subject}:read`)): DenialOf =>
  (verb) =>
    isRead(verb) ? read : viewer(`${subject}:${verb === 'create' || verb === 'delete' ? verb : 'edit'}`);

/** The same rights, of which viewers do not have `read` either. */
const allRights = (subject: string): DenialOf => rights(subject, viewer(`${subject}:read`));

/** One right for reads, and one for whatever changes it. */
const right =
  (read: Denial, change = read): DenialOf =>
  (verb) =>
    isRead(verb) ? read : change;

const DESCRIBE = powerless('secrets:describeSecret');
const READ_IDENTITY = powerless('identity:read');

/** What operations are about, by the noun in the name of a field: what its `id` stands for, and who is refused. */
export const NOUNS: Readonly<Record<string, readonly [id: string | null, denied: DenialOf]>> = {
  accessToken: ['$accessToken', right(viewer('identity:get-token'))],
  additionalPrivilege: ['$privilege', right(READ_IDENTITY, viewer('identity:edit'))],
  allProjectsMembership: ['$allProjectsMembership', right(viewer('workspace:list'), viewer('workspace:assign-role'))],
  alertMessage: ['$alertMessage', allRights('pki-alerts')],
  appConnection: ['$connection', right(viewer('app-connections:read-app-connections'))],
  auditCheckpoint: [null, right(viewer('audit-logs:read'))],
  auditEvent: [null, right(powerless('audit-logs:read'))],
  auditSink: ['$auditSink', right(viewer('audit-logs:read'))],
  certificate: ['$certificate', allRights('certificates')],
  certificateAlert: ['$certificateAlert', allRights('pki-alerts')],
  certificateAuthority: ['$certificateAuthority', allRights('certificate-authorities')],
  certificateCleaning: [null, right(viewer('certificates:read'), viewer('certificates:delete'))],
  certificateProfile: ['$certificateProfile', allRights('certificate-profiles')],
  certificateRequest: ['$certificateRequest', allRights('certificates')],
  changeWebhook: ['$changeWebhook', allRights('webhooks')],
  clientSecret: ['$clientSecret', right(viewer('identity:get-token'))],
  environment: ['$environment', rights('environments')],
  folder: ['$folder', rights('secret-folders')],
  group: ['$group', rights('groups')],
  groupMember: [null, rights('groups')],
  identity: ['$identity', rights('identity')],
  identityAlert: ['$identityAlert', right(READ_IDENTITY, viewer('identity:edit'))],
  identityTokenAuth: [null, rights('identity')],
  identityUniversalAuth: [null, rights('identity')],
  identityOidcAuth: [null, rights('identity')],
  identityKubernetesAuth: [null, rights('identity')],
  job: ['$job', allRights('jobs')],
  jobKind: [null, allRights('jobs')],
  notificationChannel: ['$notificationChannel', allRights('webhooks')],
  notificationMessage: ['$notificationMessage', allRights('webhooks')],
  organization: ['$subOrganization', rights('organization')],
  organizationKey: ['$organizationKey', allRights('kms')],
  organizationMember: ['$userMembership', rights('member')],
  organizationRole: ['$organizationRole', rights('role')],
  passwordRule: ['$passwordRule', allRights('app-connections')],
  project: ['$project', rights('workspace', null)],
  projectMembership: ['$identityMembership', rights('member')],
  projectReencryption: ['$reencryption', right(viewer('workspace:edit'))],
  projectRescue: ['$rescue', right(viewer('workspace:rescue'))],
  projectRole: ['$role', rights('role')],
  projectTemplate: ['$projectTemplate', rights('project-templates')],
  secret: ['$secret', rights('secrets', DESCRIBE)],
  secretImport: ['$import', rights('secret-imports')],
  secretRotation: ['$rotation', rights('secret-rotation')],
  secretVersion: [null, right(DESCRIBE)],
  subOrganization: [null, rights('sub-organization')],
  tag: ['$tag', rights('tags')],
  user: ['$user', rights('member')],
};

/** Certificates and channels are in a project of their own, and only one without an admin can be rescued. */
const projectOf = (field: string): string => {
  if (/rescue/i.test(field)) return '$lostProject';
  return /certificate|notification/i.test(field) ? '$certificateProject' : '$project';
};

/** What a request has under a name, unless a row states it. */
const VALUES: Values = {
  accessToken: '$heldToken',
  alertId: '$certificateAlert',
  attemptId: '$waitingAttempt',
  authorityId: '$certificateAuthority',
  certificateId: '$certificate',
  clientId: '$clientId',
  clientSecret: '$heldClientSecret',
  connectionId: '$connection',
  destinationEnvironment: 'prod',
  destination: { environment: 'prod', secretPath: '/' },
  environment: 'dev',
  folderId: '$folder',
  groupId: '$group',
  groupIdOrName: '$group',
  identityId: '$identity',
  jwt: '$platformToken',
  import: { environment: 'prod', path: '/' },
  likeSecretId: '$secret',
  memberId: '$user',
  memberKind: 'USER',
  membershipId: '$memberMembership',
  name: 'web-shop',
  organizationId: '$subOrganization',
  organizationKeyId: '$organizationKey',
  predecessorId: '$certificateAuthority',
  profileId: '$certificateProfile',
  projectSlug: '$projectSlug',
  secretId: '$secret',
  secretIds: ['$secret'],
  secretKey: '$secretKey',
  secretPath: '/',
  secretValue: `${CANARY} value`,
  source: { environment: 'dev', secretPath: '/' },
  sourceEnvironment: 'dev',
  url: `https://example.com/${CANARY}`,
  userId: '$user',
  username: '$username',
  version: 1,
};

/** How REST names arguments of the schema, where it does not use their names. */
export const REST_NAMES: Readonly<Record<string, string>> = {
  orgId: 'organizationId',
  privilegeSlug: 'slug',
  projectDescription: 'description',
  projectName: 'name',
  resourceId: 'identityId',
  role: 'roleSlug',
  roleSlugs: 'roles',
  secretName: 'secretKey',
  workspaceId: 'projectId',
};

/** @param field that answers the request */
export const valueNamed = (name: string, field: string): unknown =>
  name === 'projectId' ? projectOf(field) : VALUES[name];

export const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
