import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Caller, mustSucceed } from './caller.js';
import { Cluster } from './outside/cluster.js';
import { CANARY, type World, word } from './world.js';

type UserThing = 'user' | 'username' | 'userMembership' | 'memberMembership';
type IdentityThing = 'identity' | 'identityMembership' | 'privilege' | 'privilegeSlug' | 'accessToken' | 'heldToken';
type ClientThing =
  | 'clientId'
  | 'clientSecret'
  | 'heldClientSecret'
  | 'platformToken'
  | 'platformIdentity'
  | ClusterThing;
type ClusterThing = 'clusterUrl' | 'clusterAuthority' | 'serviceAccountToken';
type GroupThing = 'group' | 'groupSlug';
type OtherThing = 'otherUser' | 'otherUsername' | 'otherIdentity' | 'otherGroup';
type RoleThing = 'organizationRole' | 'organizationRoleSlug';
type AllProjectsThing = 'allProjectsMembership';
type Members = Pick<
  World,
  UserThing | IdentityThing | ClientThing | GroupThing | OtherThing | RoleThing | AllProjectsThing
>;

const NO_USER = { user: '', username: '', userMembership: '', memberMembership: '' };
const NO_CLIENT = {
  clientId: '',
  clientSecret: '',
  heldClientSecret: '',
  platformToken: '',
  platformIdentity: '',
  clusterUrl: '',
  clusterAuthority: '',
  serviceAccountToken: '',
};
const NO_IDENTITY = {
  ...{ identity: '', identityMembership: '', privilege: '', privilegeSlug: '', accessToken: '', heldToken: '' },
  ...NO_CLIENT,
};
const NO_GROUP = { group: '', groupSlug: '' };
const NO_ROLE = { organizationRole: '', organizationRoleSlug: '' };

interface Place {
  readonly organization: string;
  readonly project: string;
  /** What they join as well; empty for none. */
  readonly subOrganization: string;
}

/** Makes users, identities and groups, with their memberships, rights and credentials, as far as they are wanted. */
export async function makeMembers(
  admin: Caller,
  place: Place,
  isWanted: (...things: (keyof World)[]) => boolean,
): Promise<Members> {
  const isGroup = isWanted('group', 'groupSlug');
  const isTemplate = isWanted('projectTemplate', 'projectTemplateName');
  const isUser = isGroup || isWanted(...(Object.keys(NO_USER) as UserThing[]));
  const isIdentity = isGroup || isWanted('identityAlert', ...(Object.keys(NO_IDENTITY) as IdentityThing[]));
  const isOtherUser = isTemplate || isWanted('otherUser', 'otherUsername');
  const otherUsername = isOtherUser ? word('user') : '';
  const user = isUser ? await makeProjectUser(admin, place) : NO_USER;
  const identity = isIdentity ? await makeProjectIdentity(admin, place, isWanted) : NO_IDENTITY;
  return {
    ...user,
    ...identity,
    ...(isGroup ? await makeProjectGroup(admin, place, { user: user.user, identity: identity.identity }) : NO_GROUP),
    ...(isWanted('organizationRole', 'organizationRoleSlug') ? await makeOrganizationRole(admin) : NO_ROLE),
    allProjectsMembership: isWanted('allProjectsMembership')
      ? await joinAllProjects(admin, await makeIdentity(admin, place.organization))
      : '',
    otherUser: isOtherUser ? await makeUser(admin, otherUsername) : '',
    otherUsername,
    otherIdentity: isTemplate || isWanted('otherIdentity') ? await makeIdentity(admin, place.organization) : '',
    otherGroup: isWanted('otherGroup')
      ? mustSucceed(await admin.post('/api/v1/groups', { name: word('group') })).body.id
      : '',
  };
}

async function makeProjectUser(admin: Caller, { project, subOrganization }: Place): Promise<Pick<World, UserThing>> {
  const username = word('user');
  const user = await makeUser(admin, username);
  const asMember = await admin.post(`/api/v1/projects/${project}/memberships`, { userId: user, role: 'viewer' });
  await joinSub(admin, subOrganization, { userId: user });
  const { organizationMembers } = await admin.data('{ organizationMembers { nodes { id memberId } } }');
  return {
    user,
    username,
    userMembership: organizationMembers.nodes.find(({ memberId }: { memberId: string }) => memberId === user).id,
    memberMembership: mustSucceed(asMember).body.membership.id,
  };
}

async function makeProjectIdentity(
  admin: Caller,
  { organization, project, subOrganization }: Place,
  isWanted: (...things: (keyof World)[]) => boolean,
): Promise<Pick<World, IdentityThing | ClientThing>> {
  const identity = await makeIdentity(admin, organization);
  const path = `/api/v2/workspace/${project}/identity-memberships/${identity}`;
  const asMember = mustSucceed(await admin.post(path, { role: 'viewer' })).body.identityMembership;
  await joinSub(admin, subOrganization, { identityId: identity });
  const privilege = await makePrivilege(admin, project, identity);
  mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${identity}`, { accessTokenMaxTTL: 0 }));
  const issued = mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${identity}/tokens`, {})).body;
  return {
    identity,
    identityMembership: asMember.id,
    privilege: privilege.id,
    privilegeSlug: privilege.slug,
    accessToken: issued.tokenData.id,
    heldToken: issued.accessToken,
    ...(isWanted(
      'identity',
      'clientId',
      'clientSecret',
      'heldClientSecret',
      'platformToken',
      'platformIdentity',
      'clusterUrl',
      'clusterAuthority',
      'serviceAccountToken',
    )
      ? await makeClient(admin, identity)
      : NO_CLIENT),
  };
}

/** A group of the user and the identity, a member of the project. */
async function makeProjectGroup(
  admin: Caller,
  { project, subOrganization }: Place,
  members: Record<'user' | 'identity', string>,
): Promise<Pick<World, GroupThing>> {
  const group = await makeGroup(admin, members);
  if (subOrganization !== '') await linkGroup(admin, group.id, subOrganization);
  mustSucceed(await admin.post(`/api/v2/workspace/${project}/groups/${group.id}`, { role: 'viewer' }));
  return { group: group.id, groupSlug: group.slug };
}

const joinSub = async (admin: Caller, organizationId: string, member: object): Promise<void> => {
  if (organizationId !== '') await setMember(admin, { ...member, organizationId, roleSlug: 'member' });
};

export const setMember = (admin: Caller, input: object): Promise<unknown> =>
  admin.data('mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }', {
    input,
  });

async function makeClient(admin: Caller, identity: string): Promise<Pick<World, ClientThing>> {
  const path = `/api/v1/auth/universal-auth/identities/${identity}`;
  const { identityUniversalAuth } = mustSucceed(await admin.post(path, {})).body;
  const { clientSecret, clientSecretData } = mustSucceed(await admin.post(`${path}/client-secrets`, {})).body;
  return {
    clientId: identityUniversalAuth.clientId,
    clientSecret: clientSecretData.id,
    heldClientSecret: clientSecret,
    platformToken: await attachIssuer(admin, identity),
    platformIdentity: identity,
    ...(await attachCluster(admin, identity)),
  };
}

/** The identity trusts a cluster. */
async function attachCluster(admin: Caller, identity: string): Promise<Pick<World, ClusterThing>> {
  const cluster = (await Cluster.start()).unref();
  const body = {
    kubernetesHost: cluster.url,
    caCert: cluster.authorityPem,
    tokenReviewerJwt: cluster.token('kube-system', 'reviewer', { isReviewer: true }),
    allowedNamespaces: 'shop',
  };
  mustSucceed(await admin.post(`/api/v1/auth/kubernetes-auth/identities/${identity}`, body));
  return { clusterUrl: cluster.url, clusterAuthority: cluster.authorityPem, serviceAccountToken: cluster.token() };
}

/** The identity trusts an issuer whose keys it is given. @returns a token of that */
async function attachIssuer(admin: Caller, identity: string): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const body = {
    keys: JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }),
    boundIssuer: 'https://issuer.example.com',
    boundSubject: 'machine',
  };
  mustSucceed(await admin.post(`/api/v1/auth/oidc-auth/identities/${identity}`, body));
  const token = new SignJWT({ sub: 'machine', iss: body.boundIssuer }).setProtectedHeader({ alg: 'ES256', kid: 'one' });
  return token.setExpirationTime('1 day').sign(privateKey);
}

async function joinAllProjects(admin: Caller, memberId: string): Promise<string> {
  const body = { memberKind: 'identity', memberId, roleSlug: 'no-access' };
  return mustSucceed(await admin.post('/api/v1/organization/all-projects-memberships', body)).body.membership.id;
}

async function makeOrganizationRole(admin: Caller): Promise<Pick<World, RoleThing>> {
  const body = {
    slug: word('role'),
    name: 'Reader',
    description: CANARY,
    permissions: [{ subject: 'identity', action: 'read' }],
  };
  const { role } = mustSucceed(await admin.post('/api/v1/organization/roles', body)).body;
  return { organizationRole: role.id, organizationRoleSlug: role.slug };
}

async function makeGroup(
  admin: Caller,
  { user, identity }: Record<'user' | 'identity', string>,
): Promise<{ readonly id: string; readonly slug: string }> {
  const group = mustSucceed(await admin.post('/api/v1/groups', { name: word('group') })).body;
  await admin.data('mutation ($members: AddGroupMembersInput!) { addGroupMembers(input: $members) { __typename } }', {
    members: { groupId: group.id, userIds: [user], identityIds: [identity] },
  });
  return group;
}

const linkGroup = (admin: Caller, groupId: string, organizationId: string): Promise<unknown> =>
  admin.data('mutation ($input: LinkGroupInput!) { linkGroup(input: $input) { __typename } }', {
    input: { groupId, organizationId },
  });

async function makeUser(admin: Caller, username: string): Promise<string> {
  const { createUser } = await admin.data(
    `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }`,
    { input: { username } },
  );
  return createUser.user.id;
}

export async function makeIdentity(admin: Caller, organizationId: string): Promise<string> {
  return mustSucceed(await admin.post('/api/v1/identities', { name: word('identity'), organizationId })).body.identity
    .id;
}

async function makePrivilege(
  admin: Caller,
  projectId: string,
  identityId: string,
): Promise<{ id: string; slug: string }> {
  const permissions = [{ subject: 'secrets', action: ['create'], conditions: { environment: 'staging' } }];
  const body = { projectId, identityId, slug: word('privilege'), permissions };
  return mustSucceed(await admin.post('/api/v2/identity-project-additional-privilege', body)).body.privilege;
}
