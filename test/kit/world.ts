import { randomBytes, randomUUID } from 'node:crypto';
import { Caller, mustSucceed } from './caller.js';
import { makeCertificates } from './certificates/things.js';
import { type ConnectedWorld, makeConnected, storedOfConnected } from './connections.js';
import { type IdentityAlertWorld, makeIdentityAlert } from './identity-alerts.js';
import { storedReencryption } from './organization-keys.js';
import { makeOutgoing, type OutgoingWorld } from './outgoing-events.js';
import { makePasswordRule, type PasswordRuleWorld } from './password-rules.js';
import type { Seed } from './seed.js';
import { makeIdentity, makeMembers, setMember } from './world-members.js';

/** A word that stands in every secret text of a world, so that a search finds what leaked. */
export const CANARY = 'cAnArY';

/** One thing of every kind, in an organization of its own: ids by name, for requests that mention them. */
export interface World extends ConnectedWorld, IdentityAlertWorld, PasswordRuleWorld, OutgoingWorld {
  readonly organization: string;
  readonly subOrganization: string;
  readonly subSlug: string;
  readonly project: string;
  readonly projectSlug: string;
  readonly environment: string;
  readonly folder: string;
  /** The root of dev imports that of staging. */
  readonly import: string;
  readonly secret: string;
  readonly secretKey: string;
  readonly tag: string;
  readonly tagSlug: string;
  /** A role that the project made, which nobody has. */
  readonly role: string;
  readonly roleSlug: string;
  /** A role that the organization made, which nobody has. */
  readonly organizationRole: string;
  readonly organizationRoleSlug: string;
  /** The membership of an identity in all projects, with a role that gives nothing. */
  readonly allProjectsMembership: string;
  /** A project of the type `cert-manager`, with an alert, authorities and a certificate. */
  readonly certificateProject: string;
  readonly certificateAlert: string;
  /** The channel of that alert, which is disabled. */
  readonly alertChannel: string;
  /** A channel of that project, which is disabled. */
  readonly notificationChannel: string;
  /** A message of that alert, which was given up. Only a world that is seeded has one. */
  readonly alertMessage: string;
  /** The same of that channel of the project. */
  readonly notificationMessage: string;
  /** A root of that project. */
  readonly certificateAuthority: string;
  /** Another authority of it, which waits for one outside; and what that answers, as PEM. */
  readonly pendingAuthority: string;
  readonly authorityAnswer: string;
  /** One that another root of it has issued. */
  readonly issuedAuthority: string;
  /** A certificate of it, imported with its key. */
  readonly certificate: string;
  /** A profile of it, and another one by which nothing was issued. */
  readonly certificateProfile: string;
  readonly unusedProfile: string;
  /** A certificate that was issued by that profile, and the request for it. */
  readonly issuedCertificate: string;
  readonly certificateRequest: string;
  /** A project whose only admin has no way to authenticate. */
  readonly lostProject: string;
  /** The rescue of another one, which has not ended. */
  readonly rescue: string;
  /** A template of projects with environments, a role and members. */
  readonly projectTemplate: string;
  readonly projectTemplateName: string;
  /** It waits, is about the project, and nobody does it. Only a world that is seeded has one. */
  readonly job: string;
  /** A member of the project, of the sub-organization and of the group. */
  readonly user: string;
  readonly username: string;
  /** Memberships of the user and of the identity in the project. */
  readonly memberMembership: string;
  readonly identityMembership: string;
  /** Of the identity, in the project. */
  readonly privilege: string;
  readonly privilegeSlug: string;
  /** Of the user in the organization. */
  readonly userMembership: string;
  /** In no project. */
  readonly otherUser: string;
  readonly otherUsername: string;
  /** A member of the project, of the sub-organization and of the group, with token authentication and a token, and with universal authentication. */
  readonly identity: string;
  /** In no project, and without any way to authenticate. */
  readonly otherIdentity: string;
  /** A member of the project. Linked to the sub-organization, without rights. */
  readonly group: string;
  readonly groupSlug: string;
  /** In no project, and without members. */
  readonly otherGroup: string;
  readonly accessToken: string;
  /** The access token itself. */
  readonly heldToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The client secret itself. */
  readonly heldClientSecret: string;
  /** A token of its platform, with which the identity logs in, and the identity as it says then. */
  readonly platformToken: string;
  readonly platformIdentity: string;
  /** The API of its cluster, a token of a service account there, and of the reviewer. */
  readonly clusterUrl: string;
  readonly clusterAuthority: string;
  readonly serviceAccountToken: string;
}

export const word = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

/**
 * Makes a world in the organization of an admin.
 *
 * @param wanted what a test mentions: of what stands alone the rest is not made, and has an empty name
 * @param root an admin of the root organization, where that is another one: the sub-organization is beside that of the world then,
 *   and none of its users, identities and groups are in it
 */
export async function makeWorld(
  admin: Caller,
  organization: string,
  wanted: readonly (keyof World)[] | null = null,
  root = admin,
): Promise<World> {
  const isWanted = (...things: (keyof World)[]): boolean =>
    wanted === null || things.some((thing) => wanted.includes(thing));
  const made = await makeProject(admin, isWanted);
  const project = made.project;
  const connected = await makeConnected(admin, project, { canary: CANARY, isWanted });
  const sub = isWanted('subOrganization', 'subSlug') ? await makeSub(root) : { subOrganization: '', subSlug: '' };
  const place = { organization, project, subOrganization: root === admin ? sub.subOrganization : '' };
  const members = await makeMembers(admin, place, isWanted);
  const template = isWanted('projectTemplate', 'projectTemplateName')
    ? await makeTemplate(admin, { username: members.otherUsername, identityId: members.otherIdentity })
    : { projectTemplate: '', projectTemplateName: '' };
  const lost = isWanted('lostProject', 'rescue')
    ? await makeLost(admin, organization)
    : { lostProject: '', rescue: '' };
  const identityAlert = { canary: CANARY, isWanted, projectId: project, identityId: members.identity };
  return {
    ...connected,
    ...made,
    ...sub,
    ...members,
    organization,
    ...template,
    ...{ job: '', alertMessage: '', notificationMessage: '' },
    ...(await makeOutgoing(admin, { canary: CANARY, isWanted, projectId: project })),
    ...(await makePasswordRule(admin, { canary: CANARY, isWanted })),
    ...(await makeIdentityAlert(admin, identityAlert)),
    ...lost,
    ...(await makeCertificates(admin, { canary: CANARY, isWanted })),
  };
}

/** A world in a new organization, and its admin. @param wanted as `makeWorld` */
export async function seedWorld(
  seed: Seed,
  wanted: readonly (keyof World)[] | null = null,
): Promise<{ world: World; admin: Caller }> {
  const { organization, admin } = await seed.organization();
  return { world: await withStored(seed, await makeWorld(admin, organization.id, wanted)), admin };
}

/** A world in a sub-organization, its admin, and the admin of the new organization above it. */
export async function seedWorldInSub(seed: Seed): Promise<{ world: World; admin: Caller; root: Caller }> {
  const { admin: root } = await seed.organization();
  const { subOrganization, admin } = await seedSub(seed, root);
  return { world: await withStored(seed, await makeWorld(admin, subOrganization, null, root)), admin, root };
}

/** With what no request makes. */
const withStored = async (seed: Seed, world: World): Promise<World> => ({
  ...world,
  job: await seed.job({ organizationId: world.organization, projectId: world.project }),
  alertMessage: world.certificateAlert === '' ? '' : await seed.failedMessage(world.certificateAlert),
  ...(await storedOfConnected(seed, world)),
  reencryption: await storedReencryption(seed, world),
  notificationMessage: world.notificationChannel === '' ? '' : await seed.failedNotice(world.notificationChannel),
});

/** A new sub-organization, and an admin of it whose token is scoped to it. */
export async function seedSub(seed: Seed, root: Caller): Promise<{ subOrganization: string; admin: Caller }> {
  const { subOrganization, subSlug } = await makeSub(root);
  const { identityId } = await seed.caller(root);
  await setMember(root, { organizationId: subOrganization, identityId, roleSlug: 'admin' });
  const path = `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
  const { accessToken } = mustSucceed(await root.post(path, { organizationSlug: subSlug })).body;
  return { subOrganization, admin: new Caller(root.url, accessToken, identityId) };
}

async function makeSub(root: Caller): Promise<Pick<World, 'subOrganization' | 'subSlug'>> {
  const subSlug = word('sub');
  const { createSubOrganization } = await root.data(
    `mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }`,
    { input: { name: subSlug, slug: subSlug } },
  );
  return { subOrganization: createSubOrganization.organization.id, subSlug };
}

type ProjectThing = 'project' | 'projectSlug' | 'environment' | 'tag' | 'tagSlug' | 'folder' | 'import';
type MadeInProject = Pick<World, ProjectThing | 'secret' | 'secretKey' | 'role' | 'roleSlug'>;

/** A project, with what is wanted of it. */
async function makeProject(admin: Caller, isWanted: (...things: (keyof World)[]) => boolean): Promise<MadeInProject> {
  const { project } = mustSucceed(
    await admin.post('/api/v2/workspace', { projectName: word('project'), slug: word('project') }),
  ).body;
  const place = { projectId: project.id, environment: 'dev' };
  const isSecret = isWanted('secret', 'secretKey');
  const tag = isSecret || isWanted('tag', 'tagSlug') ? await makeTag(admin, project.id) : { tag: '', tagSlug: '' };
  const folder = { ...place, name: word('folder'), description: CANARY };
  const secretImport = { ...place, import: { environment: 'staging' } };
  return {
    project: project.id,
    projectSlug: project.slug,
    environment: project.environments[0].id,
    ...tag,
    folder: isWanted('folder') ? mustSucceed(await admin.post('/api/v2/folders', folder)).body.folder.id : '',
    import: isWanted('import')
      ? mustSucceed(await admin.post('/api/v2/secret-imports', secretImport)).body.secretImport.id
      : '',
    ...(isSecret ? await makeSecret(admin, place, tag.tag) : { secret: '', secretKey: '' }),
    ...(isWanted('role', 'roleSlug') ? await makeRole(admin, project.id) : { role: '', roleSlug: '' }),
  };
}

async function makeTag(admin: Caller, projectId: string): Promise<Pick<World, 'tag' | 'tagSlug'>> {
  const body = { slug: word('tag'), color: '#123456' };
  const { tag } = mustSucceed(await admin.post(`/api/v1/projects/${projectId}/tags`, body)).body;
  return { tag: tag.id, tagSlug: tag.slug };
}

async function makeSecret(
  admin: Caller,
  place: { readonly projectId: string; readonly environment: string },
  tag: string,
): Promise<Pick<World, 'secret' | 'secretKey'>> {
  const secretKey = `KEY_${randomBytes(4).toString('hex').toUpperCase()}`;
  const { secret } = mustSucceed(
    await admin.post(`/api/v4/secrets/${secretKey}`, {
      ...place,
      secretValue: `${CANARY} value`,
      secretComment: `${CANARY} comment`,
      secretMetadata: [{ key: 'owner', value: `${CANARY} metadata`, isEncrypted: true }],
      tagIds: [tag],
    }),
  ).body;
  return { secret: secret.id, secretKey: secret.secretKey };
}

async function makeRole(admin: Caller, projectId: string): Promise<Pick<World, 'role' | 'roleSlug'>> {
  const { role } = mustSucceed(
    await admin.post(`/api/v1/projects/${projectId}/roles`, {
      slug: word('role'),
      name: 'Reader',
      description: CANARY,
      permissions: [{ subject: 'secrets', action: 'readValue', conditions: { environment: 'dev' } }],
    }),
  ).body;
  return { role: role.id, roleSlug: role.slug };
}

async function makeTemplate(
  admin: Caller,
  { username, identityId }: { username: string; identityId: string },
): Promise<Pick<World, 'projectTemplate' | 'projectTemplateName'>> {
  const { projectTemplate } = mustSucceed(
    await admin.post('/api/v1/project-templates', {
      name: word('template'),
      description: CANARY,
      type: 'secret-manager',
      roles: [
        {
          name: 'Reader',
          slug: 'reader',
          permissions: [{ subject: 'secrets', action: ['describeSecret', 'readValue'] }],
        },
      ],
      users: [{ username, roles: ['viewer'] }],
      identities: [{ identityId, roles: ['reader'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    }),
  ).body;
  return { projectTemplate: projectTemplate.id, projectTemplateName: projectTemplate.name };
}

async function makeLost(admin: Caller, organization: string): Promise<Pick<World, 'lostProject' | 'rescue'>> {
  const identityId = await makeIdentity(admin, organization);
  return {
    lostProject: await makeLostProject(admin, identityId),
    rescue: await makeRescue(admin, await makeLostProject(admin, identityId)),
  };
}

/** @param identityId of an identity without any way to authenticate */
async function makeLostProject(admin: Caller, identityId: string): Promise<string> {
  const { id } = mustSucceed(await admin.post('/api/v2/workspace', { projectName: word('lost') })).body.project;
  const path = `/api/v2/workspace/${id}/identity-memberships`;
  mustSucceed(await admin.post(`${path}/${identityId}`, { role: 'admin' }));
  mustSucceed(await admin.delete(`${path}/${admin.identityId}`));
  return id;
}

async function makeRescue(admin: Caller, projectId: string): Promise<string> {
  const { rescueProject } = await admin.data(
    'mutation ($input: RescueProjectInput!) { rescueProject(input: $input) { rescue { id } } }',
    { input: { projectId, reason: CANARY } },
  );
  return rescueProject.rescue.id;
}
