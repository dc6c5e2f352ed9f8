import { makeClient } from '../features/access/scenario.js';
import { Caller, mustSucceed } from '../kit/caller.js';
import { useSharedStrongroom } from '../kit/strongroom.js';

/** What the Terraform provider sends as the fields of a temporary role with a permanent one. */
const PERMANENT = {
  isTemporary: false,
  temporaryMode: '',
  temporaryRange: '',
  temporaryAccessStartTime: '0001-01-01T00:00:00Z',
};

type Body = Readonly<Record<string, unknown>>;

/** The provider: a machine identity that logged in with universal auth, by its `User-Agent`. */
class Provider {
  constructor(private readonly caller: Caller) {}

  async send(method: string, path: string, body?: Body): Promise<Body> {
    const headers = { 'user-agent': 'terraform' };
    const request = { method, path: `/api/${path}`, headers, ...(body === undefined ? {} : { body }) };
    return mustSucceed(await this.caller.request(request)).body;
  }

  refused(method: string, path: string): Promise<{ status: number; body: Body }> {
    return this.caller.request({ method, path: `/api/${path}`, headers: { 'user-agent': 'terraform' } });
  }
}

describe('the Terraform provider at its older paths', () => {
  const strongroom = useSharedStrongroom();

  async function planned() {
    const { admin, organization } = await strongroom.seed.organization();
    const { identityId, clientId, clientSecret } = await makeClient(admin, {});
    mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { role: 'admin' }));
    const login = { clientId, clientSecret, organizationSlug: '' };
    const { accessToken } = mustSucceed(
      await admin.anonymous.post('/api/v1/auth/universal-auth/login', login, { 'user-agent': 'terraform' }),
    ).body;
    const provider = new Provider(new Caller(strongroom.url, accessToken, identityId));
    const slug = `shop-${identityId.slice(0, 8)}`;
    const made = await provider.send('POST', 'v2/workspace', {
      ...{ projectName: 'Shop', projectDescription: 'of the town', slug, organizationSlug: '' },
      ...{ type: 'secret-manager', shouldCreateDefaultEnvs: true, hasDeleteProtection: false },
    });
    const project = made.project as { id: string; slug: string };
    expect(made.project).toMatchObject({ slug, orgId: organization.id, upgradeStatus: null });
    return { admin, organization, provider, project, identityId };
  }

  test('makes, reads, changes and deletes a project by its slug', async () => {
    const { provider, project, organization } = await planned();
    const bare = {
      ...{ id: project.id, name: 'Shop', slug: project.slug, type: 'secret-manager', orgId: organization.id },
      environments: [expect.objectContaining({ slug: 'dev' }), expect.anything(), expect.anything()],
    };
    const read = await provider.send('GET', `v2/workspace/${project.slug}`);
    expect(read).toMatchObject(bare);
    expect(await provider.send('GET', `v1/workspace/slug/${project.slug}`)).toEqual(read);
    expect(await provider.send('GET', `v1/workspace/${project.id}`)).toEqual({ workspace: read });
    await provider.send('PATCH', `v1/projects/${project.id}`, {
      ...{ projectId: project.id, slug: project.slug, name: 'Store', description: '', hasDeleteProtection: false },
    });
    expect(await provider.send('GET', `v2/workspace/${project.slug}`)).toMatchObject({ ...bare, name: 'Store' });
    expect(await provider.send('DELETE', `v2/workspace/${project.slug}`)).toMatchObject({ id: project.id });
    for (const path of [`v2/workspace/${project.slug}`, `v1/workspace/${project.id}`])
      expect(await provider.refused('GET', path)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await provider.refused('DELETE', `v2/workspace/${project.slug}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('makes, reads, changes and deletes an environment', async () => {
    const { provider, project } = await planned();
    const path = `v1/workspace/${project.id}/environments`;
    const made = await provider.send('POST', path, { name: 'QA', slug: 'qa', workspaceId: project.id });
    const { id } = made.environment as { id: string };
    const environment = { id, name: 'QA', slug: 'qa', position: 4, projectId: project.id };
    expect(made.environment).toMatchObject(environment);
    expect(await provider.send('GET', `v1/workspace/environments/${id}`)).toMatchObject({ environment });
    expect(await provider.send('GET', `v1/projects/${project.id}/environments/slug/qa`)).toMatchObject(environment);
    const change = { ID: id, ProjectID: project.id, name: 'Tests', slug: 'qa', position: 0 };
    expect(await provider.send('PATCH', `${path}/${id}`, change)).toMatchObject({
      environment: { ...environment, name: 'Tests' },
    });
    await provider.send('DELETE', `${path}/${id}`, { id, workspaceId: project.id });
    for (const gone of [`v1/workspace/environments/${id}`, `v1/projects/${project.id}/environments/slug/qa`])
      expect(await provider.refused('GET', gone)).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
  });

  test('makes, reads, changes and deletes a tag', async () => {
    const { provider, project } = await planned();
    const path = `v1/workspace/${project.id}/tags`;
    const given = { name: 'Database', color: '#aa0000', slug: 'db', projectId: project.id };
    const made = await provider.send('POST', path, given);
    const { id } = made.workspaceTag as { id: string };
    const tag = { id, slug: 'db', name: 'db', color: '#aa0000', projectId: project.id };
    expect(made).toEqual({ workspaceTag: tag });
    expect(await provider.send('GET', path)).toEqual({ workspaceTags: [tag] });
    expect(await provider.send('GET', `${path}/${id}`)).toEqual({ workspaceTag: tag });
    expect(await provider.send('GET', `${path}/slug/db`)).toEqual({ workspaceTag: tag });
    const change = { color: '#00aa00', projectId: project.id, tagId: id };
    const changed = { workspaceTag: { ...tag, color: '#00aa00' } };
    expect(await provider.send('PATCH', `${path}/${id}`, change)).toEqual(changed);
    expect(await provider.send('DELETE', `${path}/${id}`, { projectId: project.id, tagId: id })).toEqual(changed);
    expect(await provider.refused('GET', `${path}/${id}`)).toBeError(404, 'TAG_NOT_FOUND');
  });

  test('makes, reads, changes and deletes a role, whose actions come back in lists as they were given', async () => {
    const { provider, project } = await planned();
    const path = `v2/workspace/${project.id}/roles`;
    const permissions = [
      { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: { $eq: 'dev' } } },
      { subject: 'tags', action: ['read'], inverted: true },
    ];
    const given = { ProjectId: project.id, slug: 'reader', name: 'Reader', description: 'reads', permissions };
    const made = await provider.send('POST', path, given);
    const { id } = made.role as { id: string };
    const role = { id, slug: 'reader', name: 'Reader', description: 'reads', projectId: project.id };
    const shown = [
      { ...permissions[0], inverted: false },
      { ...permissions[1], conditions: null },
    ];
    expect(made.role).toMatchObject({ ...role, permissions: shown });
    const reads = [`${path}/slug/reader`, `${path}/${id}`, `v1/projects/roles/${id}`];
    for (const read of reads)
      expect(await provider.send('GET', read)).toMatchObject({ role: { ...role, permissions: shown } });
    const change = { ProjectId: project.id, RoleId: id, slug: 'reader', name: 'R', description: '', permissions: [] };
    expect(await provider.send('PATCH', `${path}/${id}`, change)).toMatchObject({
      role: { name: 'R', permissions: [] },
    });
    expect(await provider.send('DELETE', `${path}/${id}`)).toMatchObject({ role: { id } });
    for (const read of reads) expect(await provider.refused('GET', read)).toBeError(404, 'ROLE_NOT_FOUND');
  });

  test('makes, reads, changes and deletes a role by the slug of its project, whose actions come back one by one', async () => {
    const { provider, project } = await planned();
    const path = `v1/workspace/${project.slug}/roles`;
    const permissions = [{ subject: 'secrets', action: 'readValue', conditions: { environment: 'dev' } }];
    const given = { projectSlug: project.slug, slug: 'reader', name: 'Reader', description: '', permissions };
    const made = await provider.send('POST', path, given);
    const { id } = made.role as { id: string };
    const role = { id, slug: 'reader', projectId: project.id, permissions: [{ ...permissions[0], inverted: false }] };
    expect(made.role).toMatchObject(role);
    expect(await provider.send('GET', `${path}/slug/reader`)).toMatchObject({ role });
    const change = { ...given, roleId: id, name: 'R' };
    expect(await provider.send('PATCH', `${path}/${id}`, change)).toMatchObject({ role: { ...role, name: 'R' } });
    expect(await provider.send('DELETE', `${path}/${id}`, { projectSlug: project.slug, roleId: id })).toMatchObject({
      role: { id },
    });
    expect(await provider.refused('GET', `${path}/slug/reader`)).toBeError(404, 'ROLE_NOT_FOUND');
  });

  test('makes, reads, changes and deletes an identity and its membership', async () => {
    const { provider, project, organization } = await planned();
    const details = { organization: { id: organization.id, name: expect.any(String), slug: organization.slug } };
    expect(await provider.send('GET', 'v1/identities/details')).toEqual({ identityDetails: details });
    const made = await provider.send('POST', 'v1/identities', {
      ...{ name: 'deployer', hasDeleteProtection: false, organizationId: organization.id, role: 'member' },
      metadata: [{ key: 'team', value: 'web' }],
    });
    const { id } = made.identity as { id: string };
    expect(await provider.send('GET', `v1/identities/${id}`)).toMatchObject({
      identity: {
        identity: { id, name: 'deployer', authMethods: [] },
        ...{ role: 'member', orgId: organization.id, metadata: [{ key: 'team', value: 'web' }] },
      },
    });
    const change = { identityId: id, name: 'release', hasDeleteProtection: false, role: 'no-access', metadata: [] };
    expect(await provider.send('PATCH', `v1/identities/${id}`, change)).toMatchObject({
      identity: { name: 'release' },
    });

    const path = `v2/workspace/${project.id}/identity-memberships/${id}`;
    const roles = [{ role: 'viewer', ...PERMANENT }];
    const joined = await provider.send('POST', path, { projectId: project.id, identityId: id, roles });
    const membership = joined.identityMembership as { id: string };
    const shown = {
      ...{ id: membership.id, identityId: id, identity: { id, name: 'release' } },
      roles: [{ role: 'viewer', isTemporary: false, temporaryRange: null, temporaryAccessStartTime: null }],
    };
    expect(await provider.send('GET', path)).toMatchObject({ identityMembership: shown });
    const byId = `v2/workspace/identity-memberships/${membership.id}`;
    expect(await provider.send('GET', byId)).toMatchObject({ identityMembership: shown });
    expect(await provider.refused('GET', byId.replace(membership.id, id))).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    await provider.send('PATCH', path, {
      projectId: project.id,
      identityId: id,
      roles: [{ role: 'member', ...PERMANENT }],
    });
    expect(await provider.send('GET', byId)).toMatchObject({ identityMembership: { roles: [{ role: 'member' }] } });
    await provider.send('DELETE', path);
    expect(await provider.refused('GET', byId)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    await provider.send('DELETE', `v1/identities/${id}`);
    expect(await provider.refused('GET', `v1/identities/${id}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('adds, reads, changes and removes people, by username and by membership', async () => {
    const { admin, provider, project } = await planned();
    const [{ userId, username }, other] = await Promise.all([person(admin), person(admin)]);
    const invited = await provider.send('POST', `v2/workspace/${project.id}/memberships`, {
      ...{ projectId: project.id, usernames: [username] },
    });
    const [{ id }] = invited.memberships as [{ id: string }];
    const details = { projectId: project.id, username };
    const path = `v1/workspace/${project.id}/memberships`;
    const shown = { id, userId, projectId: project.id, user: { id: userId, username } };
    const read = { membership: { ...shown, roles: [{ role: 'member', isTemporary: false }] } };
    expect(await provider.send('POST', `${path}/details`, details)).toMatchObject(read);
    expect(await provider.send('GET', path)).toMatchObject({ memberships: [shown] });
    const roles = [
      { role: 'viewer', ...PERMANENT },
      {
        ...{ role: 'admin', isTemporary: true, temporaryMode: 'relative', temporaryRange: '2h' },
        temporaryAccessStartTime: '2030-01-01T00:00:00Z',
      },
    ];
    const changed = await provider.send('PATCH', `${path}/${id}`, { projectId: project.id, membershipId: id, roles });
    const after = [
      { role: 'viewer', isTemporary: false },
      { role: 'admin', isTemporary: true, temporaryAccessEndTime: '2030-01-01T02:00:00.000Z' },
    ];
    expect(changed).toMatchObject({ roles: after });
    const byUser = `v1/projects/${project.id}/user/${userId}/membership`;
    expect(await provider.send('GET', byUser)).toMatchObject({ membership: { ...shown, roles: after } });

    const remove = (...usernames: string[]) => ({ projectId: project.id, usernames });
    const both = await admin.delete(`/api/v2/workspace/${project.id}/memberships`, remove(username, other.username));
    expect(both).toBeError(404, 'PROJECT_NOT_FOUND');
    await provider.send('POST', `v2/workspace/${project.id}/memberships`, { usernames: [other.username] });
    const removed = await provider.send('DELETE', `v2/workspace/${project.id}/memberships`, remove(username));
    expect(removed).toMatchObject({ memberships: [{ id, userId }] });
    expect(await provider.send('DELETE', `${path}/${other.userId}`)).toMatchObject({
      membership: { user: { username: other.username } },
    });
    expect(await provider.refused('GET', byUser)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
  });

  test('makes, reads, changes and deletes a folder', async () => {
    const { provider, project } = await planned();
    const at = { environment: 'dev', workspaceId: project.id, path: '/' };
    const made = await provider.send('POST', 'v1/folders', { ...at, name: 'web', description: '' });
    const { id, envId } = made.folder as { id: string; envId: string };
    const folder = { id, envId, name: 'web', path: '/web', description: '' };
    expect(await provider.send('GET', `v1/folders/${id}`)).toMatchObject({
      folder: { ...folder, projectId: project.id, environment: { envId, envSlug: 'dev' } },
    });
    expect(await provider.send('GET', `v1/folders/${project.id}/dev/${encodeURIComponent('/web')}`)).toMatchObject({
      folder,
    });
    const change = { ...at, id, name: 'shop', description: 'of the town' };
    expect(await provider.send('PATCH', `v1/folders/${id}`, change)).toMatchObject({
      folder: { id, name: 'shop', path: '/shop', description: 'of the town' },
    });
    const byPath = (path: string) => `v1/folders/${project.id}/dev/${encodeURIComponent(path)}`;
    expect(await provider.send('GET', byPath('/'))).toMatchObject({ folder: { path: '/' } });
    await provider.send('DELETE', `v2/folders/${id}`, {
      ...{ id, environment: 'dev', projectId: project.id, path: '/', forceDelete: true },
    });
    for (const path of [`v1/folders/${id}`, byPath('/shop')])
      expect(await provider.refused('GET', path)).toBeError(404, 'FOLDER_NOT_FOUND');
  });

  test('makes, reads, changes and deletes a secret without a reminder', async () => {
    const { provider, project } = await planned();
    const at = { workspaceId: project.id, environment: 'dev', secretPath: '/', type: 'shared' };
    const without = { secretReminderNote: '', secretReminderRepeatDays: 0, tagIds: [] };
    const given = { ...at, ...without, secretKey: 'KEY', secretValue: 'one', secretComment: '' };
    await provider.send('POST', 'v3/secrets/raw/KEY', given);
    const query = new URLSearchParams({ ...at, viewSecretValue: 'true' });
    const read = await provider.send('GET', `v3/secrets/raw/KEY?${query}`);
    expect(read.secret).toMatchObject({
      secretKey: 'KEY',
      secretValue: 'one',
      secretReminderRepeatDays: null,
      tags: [],
    });
    const change = { ...at, ...without, secretName: 'KEY', newSecretName: 'NEW', secretValue: 'two' };
    await provider.send('PATCH', 'v3/secrets/raw/KEY', change);
    const renamed = await provider.send('GET', `v3/secrets/raw/NEW?${query}`);
    expect(renamed.secret).toMatchObject({ secretKey: 'NEW', secretValue: 'two', version: 2 });
    await provider.send('DELETE', 'v3/secrets/raw/NEW', { ...at, secretName: 'NEW' });
    expect(await provider.refused('GET', `v3/secrets/raw/NEW?${query}`)).toBeError(404, 'SECRET_NOT_FOUND');
  });

  async function person(admin: Caller): Promise<{ userId: string; username: string }> {
    const { userId } = await strongroom.seed.user(admin);
    const { user } = await admin.data('query ($id: ID!) { user(id: $id) { username } }', { id: userId });
    return { userId, username: user.username };
  }
});
