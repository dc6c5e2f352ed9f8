import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const KEEPS: GivenRule = { subject: 'identity', action: ['read', 'edit', 'create-token'] };
const TOKEN_AUTH = '/api/v1/auth/token-auth/identities';
const UNIVERSAL_AUTH = '/api/v1/auth/universal-auth/identities';
const CREATE = 'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }';
const CREATE_PERSONAL =
  'mutation ($input: CreatePersonalAccessTokenInput!) { createPersonalAccessToken(input: $input) { accessToken } }';
const SET = 'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }';

/** A sub-organization, and somebody whose only role above it has these rules. */
async function below(...permissions: readonly GivenRule[]) {
  const { admin } = await strongroom.seed.organization();
  const slug = `sub-${randomUUID().slice(0, 8)}`;
  const { createSubOrganization } = await admin.data(
    'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }',
    { input: { name: slug, slug } },
  );
  const join = (who: object, roleSlug: string) =>
    admin.data(SET, { input: { ...who, organizationId: createSubOrganization.organization.id, roleSlug } });
  const keeper = await strongroom.seed.caller(admin);
  const roles = '/api/v1/organization/roles';
  const { role } = mustSucceed(await admin.post(roles, { slug: 'keeper', name: 'keeper', permissions })).body;
  mustSucceed(await admin.patch(`/api/v1/identities/${keeper.identityId}`, { role: 'keeper' }));
  const change = async (...rules: readonly GivenRule[]) =>
    mustSucceed(await admin.patch(`${roles}/${role.id}`, { permissions: rules }));
  return { admin, keeper, slug, join, change };
}

describe('a credential of somebody who may do more in a sub-organization', () => {
  test('is made of a machine identity by whoever may do that too', async () => {
    const { admin, keeper, slug, join } = await below(KEEPS);
    const { identityId } = await strongroom.seed.caller(admin);
    await join({ identityId }, 'no-access');
    mustSucceed(await keeper.graphql(CREATE, { input: { identityId, organizationSlug: slug } }));
    mustSucceed(await keeper.post(`${UNIVERSAL_AUTH}/${identityId}`, {}));
    await join({ identityId }, 'admin');
    for (const input of [{ identityId, organizationSlug: slug }, { identityId }]) {
      expect(await keeper.graphql(CREATE, { input })).toBeError(403, 'PERMISSION_BOUNDARY');
      mustSucceed(await admin.graphql(CREATE, { input }));
    }
    // With it the identity could log in there.
    const secrets = `${UNIVERSAL_AUTH}/${identityId}/client-secrets`;
    expect(await keeper.post(secrets, {})).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.post(secrets, {}));
  });

  test('is compared with rights there, and with those above for whoever may change sub-organizations', async () => {
    const reads: GivenRule = { subject: 'member', action: ['read'] };
    const { admin, keeper, slug, join, change } = await below(KEEPS, reads);
    const { identityId } = await strongroom.seed.caller(admin);
    const input = { identityId, organizationSlug: slug };
    await join({ identityId }, 'no-access');
    const roles = '/api/v1/organization/roles';
    const deputy = await strongroom.seed.caller(admin);
    await join({ identityId: deputy.identityId }, 'admin');
    const made = await admin.data(CREATE, { input: { identityId: deputy.identityId, organizationSlug: slug } });
    const inSub = new Caller(strongroom.url, made.createAccessToken.accessToken);
    mustSucceed(await inSub.post(roles, { slug: 'reader', name: 'reader', permissions: [reads] }));
    await join({ identityId }, 'reader');
    expect(await keeper.graphql(CREATE, { input })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await keeper.post(`${UNIVERSAL_AUTH}/${identityId}`, {})).toBeError(403, 'PERMISSION_BOUNDARY');
    await join({ identityId: keeper.identityId }, 'reader');
    mustSucceed(await keeper.graphql(CREATE, { input }));
    await join({ identityId: keeper.identityId }, 'no-access');
    expect(await keeper.graphql(CREATE, { input })).toBeError(403, 'PERMISSION_BOUNDARY');
    await change(KEEPS, reads, { subject: 'sub-organization', action: ['edit'] });
    mustSucceed(await keeper.graphql(CREATE, { input }));
  });

  test('is made of a user by whoever may do that too', async () => {
    const { admin, keeper, slug, join } = await below({ subject: 'member', action: ['read', 'edit'] });
    const { userId } = await strongroom.seed.user(admin);
    await admin.data(SET, { input: { userId, roleSlug: 'no-access' } });
    await join({ userId }, 'no-access');
    const input = { userId, organizationSlug: slug };
    mustSucceed(await keeper.graphql(CREATE_PERSONAL, { input }));
    await join({ userId }, 'admin');
    expect(await keeper.graphql(CREATE_PERSONAL, { input })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.graphql(CREATE_PERSONAL, { input }));
  });
});

/** A project with a machine identity of its own, and a member whose only right is to make credentials of it. */
async function inProject() {
  const { admin, project } = await strongroom.seed.project();
  mustSucceed(
    await admin.post(`/api/v1/projects/${project.id}/roles`, { slug: 'keeper', name: 'keeper', permissions: [KEEPS] }),
  );
  const keeper = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['keeper'] });
  const { createIdentity } = await admin.data(
    'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }',
    { input: { name: 'robot', projectId: project.id } },
  );
  const id: string = createIdentity.identity.id;
  const membership = `/api/v2/workspace/${project.id}/identity-memberships/${id}`;
  const give = async (role: string) => mustSucceed(await admin.patch(membership, { roles: [{ role }] }));
  await give('no-access');
  mustSucceed(await admin.post(`${UNIVERSAL_AUTH}/${id}`, {}));
  return { admin, keeper, project, id, give };
}

describe('a credential of a machine identity that a project owns', () => {
  const secretsOf = (id: string) => `${UNIVERSAL_AUTH}/${id}/client-secrets`;
  const tokensOf = (id: string) => `${TOKEN_AUTH}/${id}/tokens`;

  test('is made by whoever may do in the project what it may', async () => {
    const { admin, keeper, id, give } = await inProject();
    mustSucceed(await keeper.post(`${TOKEN_AUTH}/${id}`, {}));
    const both = [tokensOf(id), secretsOf(id)];
    for (const path of both) mustSucceed(await keeper.post(path, {}));
    await give('keeper');
    for (const path of both) mustSucceed(await keeper.post(path, {}));
    await give('admin');
    for (const path of both) {
      expect(await keeper.post(path, {})).toBeError(403, 'PERMISSION_BOUNDARY');
      mustSucceed(await admin.post(path, {}));
    }
    mustSucceed(await admin.delete(`${TOKEN_AUTH}/${id}`));
    expect(await keeper.post(`${TOKEN_AUTH}/${id}`, {})).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.post(`${TOKEN_AUTH}/${id}`, {}));
  });

  test('is compared with its privileges', async () => {
    const { admin, keeper, project, id } = await inProject();
    const permissions = [{ subject: 'secrets', action: ['describeSecret'] }];
    mustSucceed(
      await admin.post('/api/v2/identity-project-additional-privilege', {
        projectId: project.id,
        identityId: id,
        permissions,
      }),
    );
    const refused = await keeper.post(secretsOf(id), {});
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toEqual([
      { path: 'secrets', code: 'describeSecret', message: 'requires the action describeSecret on secrets' },
    ]);
  });
});

describe('a credential of somebody who may do more in a project', () => {
  const pathsOf = (id: string) => [`${TOKEN_AUTH}/${id}/tokens`, `${UNIVERSAL_AUTH}/${id}/client-secrets`];

  /** A project of another member, which the admin of the organization is not in, and a machine identity that can log in. */
  async function projectOfAnother() {
    const { admin } = await strongroom.seed.organization();
    const owner = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const { identityId: id = '' } = await strongroom.seed.caller(admin);
    mustSucceed(await admin.post(`${UNIVERSAL_AUTH}/${id}`, {}));
    const join = async (role: string, project = strongroom.seed.projectOf(owner)) => {
      const path = `/api/v2/workspace/${(await project).id}/identity-memberships/${id}`;
      mustSucceed(await owner.post(path, { roles: [{ role }] }));
    };
    return { admin, owner, id, join };
  }

  test('is made by whoever may do that in the project, not by every admin of the organization', async () => {
    const { admin, owner, id, join } = await projectOfAnother();
    for (const path of pathsOf(id)) mustSucceed(await admin.post(path, {}));
    await join('no-access');
    for (const path of pathsOf(id)) mustSucceed(await admin.post(path, {}));
    const project = await strongroom.seed.projectOf(owner, { projectName: 'Hidden' });
    const permissions = [{ subject: 'secrets', action: ['readValue'] }];
    mustSucceed(
      await owner.post(`/api/v1/projects/${project.id}/roles`, { slug: 'taker', name: 'taker', permissions }),
    );
    await join('taker', Promise.resolve(project));
    for (const path of pathsOf(id)) {
      const refused = await admin.post(path, {});
      expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(refused.body.details).toEqual([
        { path: 'secrets', code: 'readValue', message: 'requires the action readValue on secrets' },
      ]);
      expect(refused.text).not.toMatch(/Hidden|taker/);
      expect(refused.text).not.toContain(project.id);
      mustSucceed(await owner.post(path, {}));
    }
    mustSucceed(await owner.delete(`${TOKEN_AUTH}/${id}`));
    expect(await admin.post(`${TOKEN_AUTH}/${id}`, {})).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await owner.post(`${TOKEN_AUTH}/${id}`, {}));
  });

  test('is compared with what it has by groups, and in projects of sub-organizations', async () => {
    const { admin, owner, id } = await projectOfAnother();
    const group = await strongroom.seed.group(owner, { identityId: id });
    const project = await strongroom.seed.projectOf(owner);
    const joining = { projectId: project.id, roles: [{ role: 'viewer' }] };
    mustSucceed(await owner.post(`/api/v2/workspace/${project.id}/groups/${group.id}`, joining));
    expect(await admin.post(`${TOKEN_AUTH}/${id}/tokens`, {})).toBeError(403, 'PERMISSION_BOUNDARY');
    const sub = await below(KEEPS);
    const { identityId = '' } = await strongroom.seed.caller(sub.admin);
    await sub.join({ identityId }, 'no-access');
    await sub.join({ identityId: sub.admin.identityId }, 'admin');
    const made = await sub.admin.data(CREATE, {
      input: { identityId: sub.admin.identityId, organizationSlug: sub.slug },
    });
    const inSub = new Caller(strongroom.url, made.createAccessToken.accessToken);
    const deep = await strongroom.seed.projectOf(inSub);
    const membership = `/api/v2/workspace/${deep.id}/identity-memberships/${identityId}`;
    mustSucceed(await sub.keeper.graphql(CREATE, { input: { identityId } }));
    mustSucceed(await inSub.post(membership, { roles: [{ role: 'viewer' }] }));
    expect(await sub.keeper.graphql(CREATE, { input: { identityId } })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await sub.admin.graphql(CREATE, { input: { identityId } }));
  });

  test('is made of a user by whoever may do that too', async () => {
    const { admin, owner } = await projectOfAnother();
    const { userId } = await strongroom.seed.user(admin);
    const project = await strongroom.seed.projectOf(owner);
    mustSucceed(await owner.post(`/api/v1/projects/${project.id}/memberships`, { userId, role: 'viewer' }));
    expect(await admin.graphql(CREATE_PERSONAL, { input: { userId } })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await owner.graphql(CREATE_PERSONAL, { input: { userId } }));
  });

  test('is compared with terms that have not begun, and with what holds when a prohibition has ended', async () => {
    const { admin, owner, id } = await projectOfAnother();
    const project = await strongroom.seed.projectOf(owner);
    const membership = `/api/v2/workspace/${project.id}/identity-memberships/${id}`;
    const startsAt = new Date(Date.now() + 3_600_000).toISOString();
    const forTime = (role: string, more = {}) => ({
      role,
      isTemporary: true,
      temporaryMode: 'relative',
      temporaryRange: '1h',
      ...more,
    });
    const refuses = async () => {
      for (const path of pathsOf(id)) {
        expect(await admin.post(path, {})).toBeError(403, 'PERMISSION_BOUNDARY');
        mustSucceed(await owner.post(path, {}));
      }
    };
    mustSucceed(await owner.post(membership, { roles: [forTime('viewer', { temporaryAccessStartTime: startsAt })] }));
    await refuses();

    const reader = { subject: 'secrets', action: ['readValue'] };
    const roleOf = async (slug: string, rule: object) =>
      mustSucceed(await owner.post(`/api/v1/projects/${project.id}/roles`, { slug, name: slug, permissions: [rule] }));
    await roleOf('reader', reader);
    await roleOf('blind', { ...reader, inverted: true });
    const both = { roles: [{ role: 'reader' }, { role: 'blind' }] };
    mustSucceed(await owner.post(membership.replace(id, admin.identityId), both));
    mustSucceed(await owner.patch(membership, both));
    for (const path of pathsOf(id)) mustSucceed(await admin.post(path, {}));
    mustSucceed(await owner.patch(membership, { roles: [{ role: 'reader' }, forTime('blind')] }));
    await refuses();

    mustSucceed(await owner.patch(membership, { roles: [{ role: 'no-access' }] }));
    for (const path of pathsOf(id)) mustSucceed(await admin.post(path, {}));
    const input = {
      projectId: project.id,
      memberKind: 'IDENTITY',
      memberId: id,
      permissions: [{ subject: 'SECRETS', action: ['READ_VALUE'] }],
      term: { range: '1h', startsAt },
    };
    await owner.data(
      'mutation ($input: CreateAdditionalPrivilegeInput!) { createAdditionalPrivilege(input: $input) { privilege { id } } }',
      { input },
    );
    await refuses();
  });

  test('takes the same statements for any number of projects', async () => {
    const { owner, id, join } = await projectOfAnother();
    await join('viewer');
    const make = async () => (await strongroom.statements(() => owner.post(`${TOKEN_AUTH}/${id}/tokens`, {}))).count;
    await make();
    const one = await make();
    for (const role of ['viewer', 'member', 'admin']) await join(role);
    expect(await make()).toBe(one);
  });
});
