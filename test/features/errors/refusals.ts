import { randomUUID } from 'node:crypto';
import { mintToken } from '../../../src/kernel/crypto/token.js';
import type { ErrorCode } from '../../../src/kernel/errors.js';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { CANARY } from '../../kit/world.js';
import { CERTIFICATE_CLASHES, CERTIFICATES_NOT_THERE } from './certificates.js';
import { CHANNEL_CLASHES, CHANNELS_NOT_THERE } from './channels.js';
import { CONNECTION_CLASHES, CONNECTIONS_NOT_THERE } from './connections.js';
import { ROTATION_CLASHES } from './rotations.js';
import { SECRET_ROTATION_CLASHES, SECRET_ROTATIONS_NOT_THERE } from './rotations-of-secrets.js';
import { again, asCaller, type ErrorCase, mutate, type Provoke, type Scene, send, unknown } from './scene.js';

const PROJECT = '/api/v1/projects/{projectId}';
const PRIVILEGES = '/api/v2/identity-project-additional-privilege';
const TOKEN_AUTH = '/api/v1/auth/token-auth/identities/{identityId}';
const ALERTS = '/api/v1/cert-manager/alerts';
const TEMPLATES = '/api/v1/project-templates';
const ONLY_GRAPHQL = 'only GraphQL has operations on organizations, users and rescues';

const callerWith = ({ strongroom, admin }: Scene, tokenAuth: Record<string, unknown>): Promise<Caller> =>
  strongroom.seed.caller(admin, { organizationRole: 'member', tokenAuth });

/** Of tokens and of rights. */
const WHO: Partial<Record<ErrorCode, ErrorCase>> = {
  TOKEN_MISSING: asCaller(async ({ admin }) => admin.anonymous),
  TOKEN_INVALID: asCaller(async ({ admin }) => new Caller(admin.url, mintToken())),
  TOKEN_EXPIRED: asCaller(async (scene) => {
    const caller = await callerWith(scene, { accessTokenTTL: 3600 });
    await scene.strongroom.sql(`update access_token set expires_at = now() where identity_id = $1`, [
      caller.identityId,
    ]);
    return caller;
  }),
  TOKEN_REVOKED: asCaller(async (scene) => {
    const caller = await callerWith(scene, {});
    await scene.admin.post('/api/v1/auth/token/revoke', { accessToken: caller.token });
    return caller;
  }),
  TOKEN_USES_EXHAUSTED: asCaller(async (scene) => {
    const caller = await callerWith(scene, { accessTokenNumUsesLimit: 1 });
    await caller.get('/api/v1/identities');
    return caller;
  }),
  TOKEN_ADDRESS_REFUSED: asCaller((scene) =>
    callerWith(scene, { accessTokenTrustedIps: [{ ipAddress: '192.0.2.0/24' }] }),
  ),
  TOKEN_MAX_TTL_EXCEEDED: {
    rest: async (scene) => {
      const { token } = await callerWith(scene, { accessTokenTTL: 60, accessTokenMaxTTL: 60 });
      return scene.admin.post('/api/v1/auth/token/renew', { accessToken: token });
    },
    graphql: async (scene) => {
      const { token } = await callerWith(scene, { accessTokenTTL: 60, accessTokenMaxTTL: 60 });
      return send('renewAccessToken', () => ({ heldToken: String(token) }))(scene);
    },
  },
  TOKEN_SCOPE_REFUSED: {
    rest: async (scene) => {
      const { identityId } = await callerWith(scene, {});
      return send(`POST ${TOKEN_AUTH}/tokens`, () => ({ identity: identityId }))(scene);
    },
    graphql: send('createPersonalAccessToken', ({ otherUser }) => ({ user: otherUser })),
  },
  PERMISSION_DENIED: asCaller(({ strongroom, admin }) => strongroom.seed.caller(admin)),
  PERMISSION_BOUNDARY: {
    rest: async (scene) => send(`POST ${PROJECT}/roles`)({ ...scene, admin: await roleMaker(scene) }),
    graphql: async (scene) => send('createProjectRole')({ ...scene, admin: await roleMaker(scene) }),
  },
};

/** Somebody who may make roles, and has no other right. */
async function roleMaker({ strongroom, admin, world }: Scene): Promise<Caller> {
  const slug = `maker-${randomUUID().slice(0, 8)}`;
  const role = { slug, name: slug, permissions: [{ subject: 'role', action: 'create' }] };
  mustSucceed(await admin.post(`/api/v1/projects/${world.project}/roles`, role));
  return strongroom.seed.caller(admin, { project: world.project, projectRoles: [slug] });
}

/** A secret `BASE`, and another one that refers to it. */
const makeReferring = ({ admin, world }: Scene, secretValue = '${BASE}'): Promise<Reply> =>
  admin.post('/api/v4/secrets/batch', {
    ...dev(world.project),
    secrets: [{ secretKey: 'BASE' }, { secretKey: 'DERIVED', secretValue }],
  });

/** More folders than a copy may have. */
const makeManyFolders = ({ strongroom, world }: Scene): Promise<unknown> =>
  strongroom.sql(
    `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
     select gen_random_uuid(), organization_id, project_id, environment_id, id, 'f' || n, '/f' || n
     from folder, generate_series(1, 10000) n where environment_id = $1 and path = '/'`,
    [world.environment],
  );

/** Just short enough for a value. */
const FULL = '${BASE}'.repeat(74_000);

/** Where the message of the alert was sent meanwhile. */
const afterSending =
  (provoke: Provoke): Provoke =>
  async (scene) => {
    await scene.strongroom.sql(`update notification_message set state = 'sent' where id = $1`, [
      scene.world.alertMessage,
    ]);
    return provoke(scene);
  };

/** Of things that are not there. */
const NOT_THERE: Partial<Record<ErrorCode, ErrorCase>> = {
  ORGANIZATION_NOT_FOUND: unknown('organization', 'GET /api/v1/identities', 'updateOrganization'),
  USER_NOT_FOUND: {
    rest: unknown('otherUser', `POST ${PROJECT}/memberships`, 'user').rest,
    graphql: unknown('user', `POST ${PROJECT}/memberships`, 'user').graphql,
  },
  IDENTITY_NOT_FOUND: unknown('identity', 'GET /api/v1/identities/{identityId}', 'identity'),
  TOKEN_AUTH_NOT_FOUND: {
    rest: send(`GET ${TOKEN_AUTH}`, ({ otherIdentity }) => ({ identity: otherIdentity })),
    graphql: send('identityTokenAuth', ({ otherIdentity }) => ({ identity: otherIdentity })),
  },
  TOKEN_NOT_FOUND: unknown('accessToken', 'GET /api/v1/auth/token-auth/tokens/{tokenId}', 'accessToken'),
  MEMBERSHIP_NOT_FOUND: {
    rest: send(`GET ${PROJECT}/memberships/{userId}`, ({ otherUser }) => ({ user: otherUser })),
    graphql: send('projectMembership', ({ otherUser }) => ({ user: otherUser })),
  },
  PROJECT_NOT_FOUND: unknown('project', `GET ${PROJECT}`, 'project'),
  JOB_NOT_FOUND: unknown('job', 'GET /api/v1/jobs/{jobId}', 'job'),
  JOB_KIND_NOT_FOUND: {
    rest: ({ strongroom }) => strongroom.admin.post('/api/v1/job-kinds/nope/pause'),
    graphql: ({ strongroom }) => mutate(strongroom.admin, 'pauseJobKind', { name: 'nope' }),
  },
  PROJECT_TEMPLATE_NOT_FOUND: {
    rest: ({ admin }) => admin.post('/api/v2/workspace', { projectName: 'Shop', template: 'nope' }),
    graphql: ({ admin }) => mutate(admin, 'createProject', { name: 'Shop', template: 'nope' }),
  },
  KEY_NOT_FOUND: {
    rest: ({ admin, world }) => admin.post('/api/v2/workspace', { projectName: 'Shop', kmsKeyId: world.project }),
    graphql: ({ admin, world }) => mutate(admin, 'createProject', { name: 'Shop', kmsKeyId: world.project }),
  },
  ENVIRONMENT_NOT_FOUND: unknown('environment', `GET ${PROJECT}/environments/{environmentId}`, 'environment'),
  FOLDER_NOT_FOUND: unknown('folder', 'GET /api/v2/folders/{folderId}', 'folder'),
  SECRET_NOT_FOUND: unknown('secret', 'GET /api/v4/secrets/id/{secretId}', 'secret'),
  SECRET_VERSION_NOT_FOUND: {
    rest: ({ admin, world }) => admin.get(`/api/v1/secrets/${world.secret}/versions/999`),
    graphql: ({ admin, world }) =>
      admin.graphql('query ($id: ID!) { secretVersion(secretId: $id, version: 999) { version } }', {
        id: world.secret,
      }),
  },
  ROLE_NOT_FOUND: unknown('role', `GET ${PROJECT}/roles/{roleId}`, 'projectRole'),
  GROUP_NOT_FOUND: unknown('group', 'GET /api/v1/groups/{groupId}', 'group'),
  PRIVILEGE_NOT_FOUND: unknown('privilege', `GET ${PRIVILEGES}/{privilegeId}`, 'additionalPrivilege'),
  PROJECT_RESCUE_NOT_FOUND: {
    rest: ONLY_GRAPHQL,
    graphql: send('projectRescue', () => ({ rescue: randomUUID() })),
  },
  CERTIFICATE_ALERT_NOT_FOUND: unknown(
    'certificateAlert',
    'GET /api/v1/cert-manager/alerts/{alertId}',
    'certificateAlert',
  ),
  ...CERTIFICATES_NOT_THERE,
  ALERT_CHANNEL_NOT_FOUND: {
    rest: ({ admin, world }) =>
      admin.post(`${ALERTS}/${world.certificateAlert}/test`, { channelId: world.certificate }),
    graphql: send('testCertificateAlert', ({ certificate }) => ({ alertChannel: certificate })),
  },
  UPSTREAM_UNREACHABLE: {
    rest: ({ admin, world }) =>
      admin.post(`${ALERTS}/${world.certificateAlert}/test`, { channelId: world.alertChannel }),
    graphql: ({ admin, world: { certificateAlert: id, alertChannel: channelId } }) =>
      mutate(admin, 'testCertificateAlert', { id, channelId, mustBeAccepted: true }),
  },
  ALERT_MESSAGE_NOT_FOUND: unknown(
    'alertMessage',
    `POST ${ALERTS}/{alertId}/messages/{messageId}/retry`,
    'alertMessage',
  ),
  ...CHANNELS_NOT_THERE,
  ...CONNECTIONS_NOT_THERE,
  ...SECRET_ROTATIONS_NOT_THERE,
  TAG_NOT_FOUND: unknown('tag', `GET ${PROJECT}/tags/{tagId}`, 'tag'),
};

const OF_CREATIONS = 'REST creates what is new: it has no `onConflict`';

/** Of what clashes with what is there. */
export const CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  DELETE_PROTECTED: {
    rest: async (scene) => {
      await protect(scene);
      return send(`DELETE ${PROJECT}`)(scene);
    },
    graphql: async (scene) => {
      await protect(scene);
      return send('deleteProject')(scene);
    },
  },
  PROJECT_SLUG_TAKEN: {
    rest: ({ admin, world }) => admin.post('/api/v2/workspace', { projectName: 'Shop', slug: world.projectSlug }),
    graphql: ({ admin, world }) => mutate(admin, 'createProject', { name: 'Shop', slug: world.projectSlug }),
  },
  ORGANIZATION_SLUG_TAKEN: {
    rest: ONLY_GRAPHQL,
    graphql: ({ admin, world }) => mutate(admin, 'createSubOrganization', { name: 'Berlin', slug: world.subSlug }),
  },
  ORGANIZATION_IN_USE: {
    rest: ONLY_GRAPHQL,
    graphql: ({ strongroom, world }) => mutate(strongroom.admin, 'deleteOrganization', { id: world.organization }),
  },
  USERNAME_TAKEN: { rest: ONLY_GRAPHQL, graphql: again('createUser') },
  ALREADY_A_MEMBER: {
    rest: send(`POST ${PROJECT}/memberships`, ({ user }) => ({ otherUser: user })),
    graphql: send('addProjectMember', ({ identity }) => ({ otherIdentity: identity })),
  },
  PROJECT_HAS_ADMIN: {
    rest: ONLY_GRAPHQL,
    graphql: send('rescueProject', ({ project }) => ({ lostProject: project })),
  },
  LAST_ADMIN: {
    rest: ({ admin, world }) =>
      admin.delete(`/api/v2/workspace/${world.project}/identity-memberships/${admin.identityId}`),
    graphql: ({ admin, world }) =>
      mutate(admin, 'removeProjectMember', {
        projectId: world.project,
        memberId: admin.identityId,
        memberKind: 'IDENTITY',
      }),
  },
  TOKEN_AUTH_EXISTS: { rest: again(`POST ${TOKEN_AUTH}`), graphql: again('attachTokenAuth') },
  ...CHANNEL_CLASHES,
  ...CONNECTION_CLASHES,
  ...SECRET_ROTATION_CLASHES,
  ENVIRONMENT_SLUG_TAKEN: { rest: again(`POST ${PROJECT}/environments`), graphql: again('createEnvironment') },
  FOLDER_NAME_TAKEN: {
    rest: async (scene) => {
      await makeFolder(scene, '/', 'shop');
      return send('PATCH /api/v2/folders/{folderId}')(scene);
    },
    graphql: async (scene) => {
      await makeFolder(scene, '/', 'shop');
      return mutate(scene.admin, 'updateFolder', { id: scene.world.folder, name: 'shop' });
    },
  },
  FOLDER_NOT_EMPTY: {
    rest: async (scene) => {
      await makeFolder(scene, '/shop', 'inner');
      return scene.admin.delete('/api/v2/folders/shop', dev(scene.world.project));
    },
    graphql: async (scene) => {
      await makeFolder(scene, '/shop', 'inner');
      return mutate(scene.admin, 'deleteFolderByName', { ...dev(scene.world.project), name: 'shop' });
    },
  },
  SECRET_KEY_TAKEN: { rest: again('POST /api/v4/secrets/{secretName}'), graphql: again('createSecret') },
  SECRET_REFERENCED: {
    rest: async (scene) => {
      await makeReferring(scene);
      return scene.admin.patch('/api/v4/secrets/BASE', { ...dev(scene.world.project), newSecretName: 'a.b' });
    },
    graphql: async (scene) => {
      await makeReferring(scene);
      const change = { secretKey: 'BASE', newSecretKey: 'a.b' };
      return mutate(scene.admin, 'updateSecretByKey', { ...dev(scene.world.project), ...change });
    },
  },
  ...ROTATION_CLASHES,
  SECRET_VERSION_DIFFERS: {
    rest: 'only GraphQL changes secrets by their ids',
    graphql: ({ admin, world }) =>
      mutate(admin, 'updateSecretsById', { secrets: [{ id: world.secret, expectedVersion: 7, secretComment: '' }] }),
  },
  REFERENCES_TOO_LONG: {
    rest: async (scene) => {
      await makeReferring(scene, FULL);
      return scene.admin.patch('/api/v4/secrets/BASE', { ...dev(scene.world.project), newSecretName: 'BASEMENT' });
    },
    graphql: async (scene) => {
      await makeReferring(scene, FULL);
      const change = { secretKey: 'BASE', newSecretKey: 'BASEMENT' };
      return mutate(scene.admin, 'updateSecretByKey', { ...dev(scene.world.project), ...change });
    },
  },
  HISTORY_TOO_SHORT: {
    rest: async (scene) => {
      await outgrowHistory(scene);
      return scene.admin.post('/api/v1/secrets/restore', { ...dev(scene.world.project), at: A_LONG_TIME_AGO });
    },
    graphql: async (scene) => {
      await outgrowHistory(scene);
      return mutate(scene.admin, 'restoreSecrets', { ...dev(scene.world.project), at: A_LONG_TIME_AGO });
    },
  },
  ROLE_SLUG_TAKEN: { rest: again(`POST ${PROJECT}/roles`), graphql: again('createProjectRole') },
  ROLE_IN_USE: {
    rest: async (scene) => {
      await send(`PATCH ${PROJECT}/memberships/{userId}`)(scene);
      return send(`DELETE ${PROJECT}/roles/{roleId}`)(scene);
    },
    graphql: async (scene) => {
      await send('updateProjectMember')(scene);
      return send('deleteProjectRole')(scene);
    },
  },
  ROLE_BUILT_IN: {
    rest: async (scene) => send(`DELETE ${PROJECT}/roles/{roleId}`, await viewerRole(scene))(scene),
    graphql: async (scene) => send('deleteProjectRole', await viewerRole(scene))(scene),
  },
  PROJECT_TEMPLATE_NAME_TAKEN: { rest: again(`POST ${TEMPLATES}`), graphql: again('createProjectTemplate') },
  PROJECT_TEMPLATE_BUILT_IN: {
    rest: async (scene) => send(`DELETE ${TEMPLATES}/{templateId}`, await defaultTemplate(scene))(scene),
    graphql: async (scene) => send('deleteProjectTemplate', await defaultTemplate(scene))(scene),
  },
  ALERT_MESSAGE_NOT_RETRYABLE: {
    rest: afterSending(send(`POST ${ALERTS}/{alertId}/messages/{messageId}/retry`)),
    graphql: afterSending(send('retryAlertMessage')),
  },
  JOB_NOT_RETRYABLE: {
    rest: async (scene) => send('POST /api/v1/jobs/{jobId}/retry', await runningJob(scene))(scene),
    graphql: async (scene) => send('retryJob', await runningJob(scene))(scene),
  },
  JOB_IS_NEEDED: {
    rest: async (scene) => send('POST /api/v1/jobs/{jobId}/cancel', await neededJob(scene))(scene),
    graphql: async (scene) => send('cancelJob', await neededJob(scene))(scene),
  },
  JOB_NOT_CANCELLABLE: { rest: again('POST /api/v1/jobs/{jobId}/cancel'), graphql: again('cancelJob') },
  PRECONDITION_FAILED: {
    rest: ({ admin, world }) =>
      admin.patch(`${TEMPLATES}/${world.projectTemplate}`, {}, { 'if-match': '"of-another-state"' }),
    graphql: 'GraphQL has no If-Match: it takes `expectedVersion`, and answers CONCURRENT_CHANGE',
  },
  GROUP_SLUG_TAKEN: {
    rest: async ({ admin }) => {
      await admin.post('/api/v1/groups', { name: 'Web', slug: 'web' });
      return admin.post('/api/v1/groups', { name: 'Web', slug: 'web' });
    },
    graphql: async ({ admin }) => {
      await mutate(admin, 'createGroup', { name: 'Web', slug: 'web' });
      return mutate(admin, 'createGroup', { name: 'Web', slug: 'web' });
    },
  },
  PRIVILEGE_SLUG_TAKEN: { rest: again(`POST ${PRIVILEGES}`), graphql: again('createAdditionalPrivilege') },
  EXISTS_DIFFERENTLY: {
    rest: OF_CREATIONS,
    graphql: async ({ admin, world }) => {
      const tag = { projectId: world.project, slug: 'as-it-is', onConflict: 'RETURN_EXISTING' };
      await mutate(admin, 'createTag', { ...tag, color: '#000000' });
      return mutate(admin, 'createTag', { ...tag, color: `#${CANARY}` });
    },
  },
  NAME_AMBIGUOUS: {
    rest: OF_CREATIONS,
    graphql: async ({ admin }) => {
      const identity = { name: `${CANARY} twin` };
      for (let times = 0; times < 2; times += 1) await mutate(admin, 'createIdentity', identity);
      return mutate(admin, 'createIdentity', { ...identity, onConflict: 'RETURN_EXISTING' });
    },
  },
  TAG_SLUG_TAKEN: { rest: again(`POST ${PROJECT}/tags`), graphql: again('createTag') },
  ...CERTIFICATE_CLASHES,
  COPY_TOO_LARGE: {
    rest: 'only GraphQL copies projects',
    graphql: async (scene) => {
      await makeManyFolders(scene);
      return send('copyProject')(scene);
    },
  },
  NOT_EXPRESSIBLE: {
    rest: async (scene) => {
      await makeInexpressible(scene);
      return send('GET /api/v4/secrets/export')(scene);
    },
    graphql: async (scene) => {
      await makeInexpressible(scene);
      return scene.admin.graphql(
        'query ($id: ID!) { exportSecrets(projectId: $id, environment: "dev", format: DOTENV) { content } }',
        { id: scene.world.project },
      );
    },
  },
};

/** They leave a world as it is for others. */
export const HARMLESS: Partial<Record<ErrorCode, ErrorCase>> = { ...WHO, ...NOT_THERE };

const dev = (projectId: string) => ({ projectId, environment: 'dev' });

/** The built-in template in place of that of the organization. */
const defaultTemplate = async ({ admin }: Scene) => {
  const { body } = await admin.get(TEMPLATES);
  return () => ({ projectTemplate: body.projectTemplates[0].id as string });
};

/** A job that runs in place of the one that waits. */
const runningJob = async ({ strongroom, world }: Scene) => {
  const job = await strongroom.seed.job({ organizationId: world.organization, state: 'running' });
  return () => ({ job });
};

/** The job that revokes a credential of the world. */
const neededJob = async ({ strongroom, world }: Scene) => {
  const job = await strongroom.seed.job({ organizationId: world.organization, kind: 'secret-rotations:pay-debts' });
  const connection = 'select connection_id from credential_debt where id = $2';
  await strongroom.sql(`update job set subject_id = (${connection}) where id = $1`, [job, world.credentialDebt]);
  return () => ({ job });
};

/** The built-in role of viewers in place of the role of the project. */
const viewerRole = async ({ admin, world }: Scene) => {
  const { body } = await admin.get(`/api/v1/projects/${world.project}/roles/slug/viewer`);
  return () => ({ role: body.role.id as string });
};

const protect = ({ admin, world }: Scene) =>
  admin.patch(`/api/v1/projects/${world.project}`, { hasDeleteProtection: true });

/** Carriage returns need double quotes, and there `\\n` is a line break. */
const makeInexpressible = ({ admin, world }: Scene) =>
  admin.post('/api/v4/secrets/NO_LINE', { ...dev(world.project), secretValue: `${CANARY}\r\\n` });

const makeFolder = ({ admin, world }: Scene, path: string, name: string) =>
  admin.post('/api/v2/folders', { ...dev(world.project), path, name });

const A_LONG_TIME_AGO = '2020-01-01T00:00:00Z';

/** The first version of a secret is not kept any more. */
async function outgrowHistory({ admin, world }: Scene): Promise<void> {
  await admin.patch(`/api/v1/projects/${world.project}`, { pitVersionLimit: 1 });
  await admin.patch(`/api/v4/secrets/${world.secretKey}`, { ...dev(world.project), secretValue: 'newer' });
}
