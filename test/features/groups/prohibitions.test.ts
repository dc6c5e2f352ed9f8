import { Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupInProject, groupWith, organizationCaller, organizationRole, projectRole, word } from './kit.js';

const strongroom = useSharedStrongroom();
const KEY = '/api/v4/secrets/KEY_00000';
const MANAGE = {
  subject: 'groups',
  action: ['read', 'edit', 'delete', 'add-identities', 'remove-identities'],
} as const;
const ALLOW = { subject: 'secrets', action: ['describeSecret', 'readValue'] };
const DENY = { subject: 'secrets', action: ['describeSecret', 'readValue'], inverted: true };

async function scene() {
  const { admin, project, organization } = await strongroom.seed.project();
  await strongroom.seed.secrets(admin, project, 'dev', 1);
  const reads = async (who: Caller): Promise<number> =>
    (await who.get(`${KEY}?projectId=${project.id}&environment=dev`)).status;
  return { admin, project, organization, reads };
}

describe('what a group forbids in the organization', () => {
  async function forbidden() {
    const made = await scene();
    const caller = await organizationCaller(strongroom, made.admin, MANAGE, { subject: 'identity', action: ['read'] });
    const role = await organizationRole(made.admin, { subject: 'identity', action: ['create'], inverted: true });
    const victim = await organizationCaller(strongroom, made.admin, {
      subject: 'identity',
      action: ['create', 'read'],
    });
    const group = await groupWith(made.admin, role, victim);
    const creates = async (): Promise<number> =>
      (await victim.post('/api/v1/identities', { name: 'x', organizationId: made.organization.id })).status;
    expect(await creates()).toBe(403);
    return { ...made, caller, victim, group, role, creates };
  }

  test.each([
    [
      'removing a member',
      (c: Caller, g: string, v: Caller) => c.delete(`/api/v1/groups/${g}/machine-identities/${v.identityId}`),
    ],
    ['deleting the group', (c: Caller, g: string) => c.delete(`/api/v1/groups/${g}`)],
    ['giving the group another role', (c: Caller, g: string) => c.patch(`/api/v1/groups/${g}`, { role: 'no-access' })],
  ])('is not lifted by %s without that right', async (_, lift) => {
    const { caller, victim, group, creates } = await forbidden();
    const reply = await lift(caller, group, victim);
    expect([reply.status, await creates()]).toEqual([403, 403]);
  });

  test('is not lifted by its member leaving it', async () => {
    const { admin, organization } = await scene();
    const role = await organizationRole(admin, { subject: 'identity', action: ['create'], inverted: true });
    const self = await organizationCaller(strongroom, admin, MANAGE, {
      subject: 'identity',
      action: ['create', 'read'],
    });
    const group = await groupWith(admin, role, self);
    const create = () => self.post('/api/v1/identities', { name: 'x', organizationId: organization.id });
    expect((await create()).status).toBe(403);
    const left = await self.delete(`/api/v1/groups/${group}/machine-identities/${self.identityId}`);
    expect([left.status, (await create()).status]).toEqual([403, 403]);
  });

  test('is not lifted by another direct role of the member (role of member itself forbids, group allows)', async () => {
    const { admin, organization } = await scene();
    const caller = await organizationCaller(strongroom, admin, { subject: 'identity', action: ['read', 'edit'] });
    const victim = await organizationCaller(strongroom, admin, {
      subject: 'identity',
      action: ['create'],
      inverted: true,
    });
    await groupWith(admin, 'admin', victim);
    const create = () => victim.post('/api/v1/identities', { name: 'x', organizationId: organization.id });
    expect((await create()).status).toBe(403);
    const r = await caller.patch(`/api/v1/identities/${victim.identityId}`, { role: 'no-access' });
    expect([r.status, (await create()).status]).toEqual([403, 403]);
  });
});

describe('what a group forbids in a project', () => {
  async function forbidden() {
    const made = await scene();
    const caller = await organizationCaller(strongroom, made.admin, MANAGE, { subject: 'identity', action: ['read'] });
    const role = await projectRole(made.admin, made.project.id, DENY);
    const victim = await strongroom.seed.caller(made.admin, { project: made.project.id });
    const group = await groupWith(made.admin, 'no-access', victim);
    await groupInProject(made.admin, group, made.project.id, role);
    expect(await made.reads(victim)).toBe(403);
    return { ...made, caller, victim, group };
  }

  test.each([
    [
      'removing a member',
      (c: Caller, g: string, v: Caller) => c.delete(`/api/v1/groups/${g}/machine-identities/${v.identityId}`),
    ],
    ['deleting the group', (c: Caller, g: string) => c.delete(`/api/v1/groups/${g}`)],
  ])('is not lifted by %s without that right', async (_, lift) => {
    const { caller, victim, group, reads } = await forbidden();
    const reply = await lift(caller, group, victim);
    expect([reply.status, await reads(victim)]).toEqual([403, 403]);
  });
});

describe('what a group forbids in a linked organization', () => {
  const LINK = 'mutation ($input: LinkGroupInput!) { linkGroup(input: $input) { membership { roleSlug } } }';
  const UNLINK = 'mutation ($input: UnlinkGroupInput!) { unlinkGroup(input: $input) { membership { roleSlug } } }';

  async function linked() {
    const { admin } = await scene();
    const name = word('sub');
    const { createSubOrganization } = await admin.data(
      'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }',
      { input: { name, slug: name } },
    );
    const organizationId: string = createSubOrganization.organization.id;
    const { createAccessToken } = await admin.data(
      'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }',
      { input: { identityId: admin.identityId, organizationSlug: name } },
    );
    const below = new Caller(admin.url, createAccessToken.accessToken);
    const deny = await organizationRole(below, { subject: 'identity', action: ['create'], inverted: true });
    const groupId = await groupWith(admin, 'no-access');
    await admin.data(LINK, { input: { groupId, organizationId, roleSlug: deny } });
    const rules = [MANAGE, { subject: 'sub-organization', action: ['edit'] }];
    const lacking = await organizationCaller(strongroom, admin, ...rules);
    const having = await organizationCaller(strongroom, admin, ...rules, { subject: 'identity', action: ['create'] });
    return { admin, lacking, having, input: { groupId, organizationId } };
  }

  test.each([
    ['unlinking it', (c: Caller, input: object) => c.graphql(UNLINK, { input })],
    [
      'linking it with another role',
      (c: Caller, input: object) => c.graphql(LINK, { input: { ...input, roleSlug: 'no-access' } }),
    ],
  ])('is not lifted by %s without that right', async (_, lift) => {
    const { lacking, having, input } = await linked();
    expect(await lift(lacking, input)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await lift(having, input)).body.errors).toBeUndefined();
  });

  test('is not given by linking it without that right', async () => {
    const { admin, lacking, having, input } = await linked();
    const { roleSlug } = (await admin.data(UNLINK, { input })).unlinkGroup.membership;
    expect(await lacking.graphql(LINK, { input: { ...input, roleSlug } })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await having.graphql(LINK, { input: { ...input, roleSlug } })).body.errors).toBeUndefined();
  });
});

describe('a role that forbids, held twice', () => {
  test('does not lose its place when its holder joins a group that allows and forbids', async () => {
    const { admin, project, reads } = await scene();
    const [allow, deny] = [await projectRole(admin, project.id, ALLOW), await projectRole(admin, project.id, DENY)];
    const self = await organizationCaller(strongroom, admin, MANAGE, { subject: 'identity', action: ['read'] });
    mustSucceed(
      await admin.post(`/api/v2/workspace/${project.id}/identity-memberships/${self.identityId}`, {
        roles: [{ role: deny }],
      }),
    );
    const group = await groupWith(admin, 'no-access');
    await groupInProject(admin, group, project.id, allow, deny);
    expect(await reads(self)).toBe(403);
    const joined = await self.post(`/api/v1/groups/${group}/machine-identities/${self.identityId}`, {});
    expect([joined.status, await reads(self)]).toEqual([403, 403]);
  });

  test('does not lose its place when somebody who has both takes its holder into a group that allows and forbids', async () => {
    const { admin, project, reads } = await scene();
    const [allow, deny] = [await projectRole(admin, project.id, ALLOW), await projectRole(admin, project.id, DENY)];
    const caller = await organizationCaller(strongroom, admin, MANAGE, { subject: 'identity', action: ['read'] });
    mustSucceed(
      await admin.post(`/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`, {
        roles: [{ role: allow }, { role: deny }],
      }),
    );
    const holder = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [deny] });
    const group = await groupWith(admin, 'no-access');
    await groupInProject(admin, group, project.id, allow, deny);
    expect([await reads(caller), await reads(holder)]).toEqual([403, 403]);
    const joined = await caller.post(`/api/v1/groups/${group}/machine-identities/${holder.identityId}`, {});
    expect([joined.status, await reads(holder)]).toEqual([403, 403]);
  });

  test('does not lose its place when its holder joins an older group that only forbids', async () => {
    const { admin, project, reads } = await scene();
    const [allow, deny] = [await projectRole(admin, project.id, ALLOW), await projectRole(admin, project.id, DENY)];
    const self = await organizationCaller(strongroom, admin, MANAGE, { subject: 'identity', action: ['read'] });
    const older = await groupWith(admin, 'no-access');
    await groupInProject(admin, older, project.id, deny);
    const newer = await groupWith(admin, 'no-access', self);
    await groupInProject(admin, newer, project.id, allow, deny);
    expect(await reads(self)).toBe(403);
    const joined = await self.post(`/api/v1/groups/${older}/machine-identities/${self.identityId}`, {});
    expect([joined.status, await reads(self)]).toEqual([403, 403]);
  });

  test('in an organization does not lose its place when its holder joins a group with a role that allows', async () => {
    const { admin, organization } = await scene();
    const deny = await organizationRole(admin, { subject: 'identity', action: ['create'], inverted: true });
    const allow = await organizationRole(admin, { subject: 'identity', action: ['create', 'read'] });
    const self = await organizationCaller(strongroom, admin, MANAGE);
    const older = await groupWith(admin, deny);
    await groupWith(admin, allow, self);
    await groupWith(admin, deny, self);
    const create = () => self.post('/api/v1/identities', { name: 'x', organizationId: organization.id });
    expect((await create()).status).toBe(403);
    const joined = await self.post(`/api/v1/groups/${older}/machine-identities/${self.identityId}`, {});
    expect([joined.status, (await create()).status]).toEqual([403, 403]);
  });
});

describe('a role that forbids, given to a group', () => {
  const identities = { subject: 'identity', action: ['read', 'create', 'edit', 'delete'], inverted: true };

  test('reaches nobody by who has less than it forbids', async () => {
    const { admin } = await scene();
    const action = ['read', 'create', 'edit', 'add-identities'];
    const caller = await organizationCaller(strongroom, admin, { subject: 'groups', action });
    const role = await organizationRole(admin, identities);
    const made = await caller.post('/api/v1/groups', { name: 'locked', role });
    const changed = await caller.patch(`/api/v1/groups/${await groupWith(admin, 'no-access')}`, { role });
    const group = await groupWith(admin, role);
    const joined = await caller.post(`/api/v1/groups/${group}/machine-identities/${admin.identityId}`, {});
    expect([made.status, changed.status, joined.status]).toEqual([403, 403, 403]);
    expect((await admin.get('/api/v1/identities')).status).toBe(200);
  });
});

test('what rules forbid with a group by its slug is not escaped by another slug', async () => {
  const { admin } = await strongroom.seed.organization();
  const groups = { subject: 'groups', action: ['read', 'edit', 'add-identities'] };
  const forbidden = { subject: 'groups', action: ['add-identities'], inverted: true };
  const identities = { subject: 'identity', action: ['read'] };
  const caller = await organizationCaller(
    strongroom,
    admin,
    groups,
    { ...forbidden, conditions: { groupSlug: { $glob: 'ops*' } } },
    identities,
  );
  const { id } = mustSucceed(await admin.post('/api/v1/groups', { name: 'Ops', slug: 'ops' })).body;
  const rename = (by: Caller, slug: string) => by.patch(`/api/v1/groups/${id}`, { slug });
  const join = () => caller.post(`/api/v1/groups/${id}/machine-identities/${admin.identityId}`);

  expect(await join()).toBeError(403, 'PERMISSION_DENIED');
  expect(await rename(caller, 'others')).toBeError(403, 'PERMISSION_DENIED');
  mustSucceed(await rename(caller, 'ops-eu'));
  expect(await join()).toBeError(403, 'PERMISSION_DENIED');
  mustSucceed(await rename(admin, 'others'));
  mustSucceed(await join());
});
