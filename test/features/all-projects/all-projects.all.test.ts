import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { groupWith, organizationCaller, projectRole } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const PATH = '/api/v1/organization/all-projects-memberships';
const SHOWN = `id memberKind memberId name roleSlug endsAt isActive permissions { subject action conditions { environment { ne } } }
  user { id } identity { id } group { id } organization { id }`;
const CREATE = `mutation ($input: CreateAllProjectsMembershipInput!) { createAllProjectsMembership(input: $input) { membership { ${SHOWN} } } }`;
const UPDATE = `mutation ($input: UpdateAllProjectsMembershipInput!) { updateAllProjectsMembership(input: $input) { membership { ${SHOWN} } } }`;
const DELETE = `mutation ($input: DeleteAllProjectsMembershipInput!) { deleteAllProjectsMembership(input: $input) { membership { id } } }`;

const NOT_PROD = [
  { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: { $ne: 'prod' } } },
  { subject: 'environments', action: 'read' },
  { subject: 'secret-folders', action: 'read' },
];

const ofIdentity = ({ identityId }: Caller, more: object = {}) => ({
  memberKind: 'identity',
  memberId: identityId,
  roleSlug: 'viewer',
  ...more,
});
const grant = (by: Caller, body: object): Promise<Reply> => by.post(PATH, body);
const granted = async (by: Caller, body: object) => mustSucceed(await grant(by, body)).body.membership;

/** An organization with an admin, somebody else who makes projects, and a project of that with a secret. */
async function scene() {
  const { admin, organization } = await strongroom.seed.organization();
  const maker = await strongroom.seed.caller(admin, { organizationRole: 'member' });
  const project = await strongroom.seed.projectOf(maker);
  await write(maker, project.id);
  return { admin, organization, maker, project };
}

const write = async (by: Caller, projectId: string, environment = 'dev') =>
  mustSucceed(
    await by.post('/api/v4/secrets/KEY', { projectId, environment, secretPath: '/', secretValue: `of ${environment}` }),
  );
const read = (by: Caller, projectId: string, environment = 'dev'): Promise<Reply> =>
  by.get(`/api/v4/secrets/KEY?projectId=${projectId}&environment=${environment}&secretPath=/`);
const reads = async (by: Caller, projectId: string, environment = 'dev'): Promise<number> =>
  (await read(by, projectId, environment)).status;
const projectsOf = async (by: Caller): Promise<string[]> =>
  (await by.get('/api/v1/projects')).body.projects.map(({ id }: { id: string }) => id).sort();

describe('a membership of all projects', () => {
  test.each(['user', 'identity', 'group'] as const)('of a %s is shown as it was made', async (memberKind) => {
    const { admin, organization } = await scene();
    const who = await strongroom.seed.caller(admin);
    const memberId = {
      user: async () => (await strongroom.seed.user(admin)).userId,
      identity: async () => who.identityId,
      group: async () => groupWith(admin, 'no-access', who),
    };
    const id = await memberId[memberKind]();
    const endsAt = new Date(Date.now() + 3_600_000).toISOString();
    const input = { memberKind: memberKind.toUpperCase(), memberId: id, roleSlug: 'viewer', endsAt };
    const { membership } = (await admin.data(CREATE, { input })).createAllProjectsMembership;
    expect(membership).toEqual({
      id: expect.any(String),
      ...input,
      name: expect.stringMatching(/./),
      isActive: true,
      permissions: [],
      organization: { id: organization.id },
      ...{ user: null, identity: null, group: null },
      [memberKind]: { id },
    });
    const { allProjectsMemberships } = await admin.data(`{ allProjectsMemberships { totalCount nodes { ${SHOWN} } } }`);
    expect(allProjectsMemberships).toEqual({ totalCount: 1, nodes: [membership] });
    expect((await admin.get(`${PATH}/${membership.id}`)).body.membership).toMatchObject({
      id: membership.id,
      memberId: id,
    });
    expect((await admin.get(PATH)).body.memberships).toHaveLength(1);
    const node = await admin.data('query ($id: ID!) { node(id: $id) { __typename id } }', { id: membership.id });
    expect(node.node).toEqual({ __typename: 'AllProjectsMembership', id: membership.id });
  });

  test('gives its role in every project, also in one that is made later, wherever access counts', async () => {
    const { admin, maker, project } = await scene();
    const who = await strongroom.seed.caller(admin);
    expect(await projectsOf(who)).toEqual([]);
    await granted(admin, ofIdentity(who));
    expect(await reads(who, project.id)).toBe(200);
    const later = await strongroom.seed.projectOf(maker);
    await write(maker, later.id);
    expect(await projectsOf(who)).toEqual([project.id, later.id].sort());
    expect(await reads(who, later.id)).toBe(200);
    const { projects, searchSecrets } = await who.data(
      '{ projects { totalCount nodes { viewerHasAccess viewerPermissions { subject } } } searchSecrets(input: { key: { equals: "KEY" } }) { nodes { secret { secretKey } } } }',
    );
    expect(projects.totalCount).toBe(2);
    expect(projects.nodes).toMatchObject([{ viewerHasAccess: true }, { viewerHasAccess: true }]);
    expect(searchSecrets.nodes).toEqual([{ secret: { secretKey: 'KEY' } }, { secret: { secretKey: 'KEY' } }]);
    expect(await who.delete(`/api/v1/projects/${later.id}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(
      (await maker.get(`/api/v2/workspace/${later.id}/identity-memberships`)).body.identityMemberships,
    ).toHaveLength(1);
  });

  test('of a group is that of its members, from then on and for as long as they are', async () => {
    const { admin, project } = await scene();
    const who = await strongroom.seed.caller(admin);
    const group = await groupWith(admin, 'no-access');
    await granted(admin, { memberKind: 'group', memberId: group, roleSlug: 'viewer' });
    expect(await reads(who, project.id)).toBe(404);
    mustSucceed(await admin.post(`/api/v1/groups/${group}/machine-identities/${who.identityId}`, {}));
    expect(await reads(who, project.id)).toBe(200);
    mustSucceed(await admin.delete(`/api/v1/groups/${group}/machine-identities/${who.identityId}`));
    expect(await reads(who, project.id)).toBe(404);
  });

  test('has permissions with conditions, which only add to its role', async () => {
    const { admin, maker, project } = await scene();
    await write(maker, project.id, 'prod');
    const who = await strongroom.seed.caller(admin);
    const made = await granted(admin, ofIdentity(who, { roleSlug: 'no-access', permissions: NOT_PROD }));
    expect([await reads(who, project.id), await reads(who, project.id, 'prod')]).toEqual([200, 404]);
    mustSucceed(await admin.patch(`${PATH}/${made.id}`, { permissions: [] }));
    expect(await reads(who, project.id)).toBe(403);
    mustSucceed(await admin.patch(`${PATH}/${made.id}`, { roleSlug: 'viewer' }));
    expect([await reads(who, project.id), await reads(who, project.id, 'prod')]).toEqual([200, 200]);
  });

  test('yields to what a project forbids', async () => {
    const { admin, maker, project } = await scene();
    const role = await projectRole(maker, project.id, { subject: 'secrets', action: 'readValue', inverted: true });
    const path = `/api/v2/workspace/${project.id}/identity-memberships`;
    for (const more of [{}, { roleSlug: 'no-access', permissions: NOT_PROD }]) {
      const who = await strongroom.seed.caller(admin);
      mustSucceed(await maker.post(`${path}/${who.identityId}`, { roles: [{ role }] }));
      await granted(admin, ofIdentity(who, more));
      expect(await read(who, project.id)).toMatchObject({ body: { secret: { secretValueHidden: true } } });
    }
  });

  test('ends by itself, and with that of the organization', async () => {
    const { admin, organization, project } = await scene();
    const who = await strongroom.seed.caller(admin);
    const made = await granted(admin, ofIdentity(who, { endsAt: new Date(Date.now() + 3_600_000).toISOString() }));
    expect(await reads(who, project.id)).toBe(200);
    const set = (table: string, column: string) =>
      strongroom.sql(`update ${table} set ends_at = now() + interval '1 second' where ${column} = $1`, [
        column === 'id' ? made.id : who.identityId,
      ]);
    await set('all_projects_membership', 'id');
    await until('the end of the membership', 10_000, async () => (await reads(who, project.id)) === 404);
    expect((await admin.get(`${PATH}/${made.id}`)).body.membership.isActive).toBe(false);
    expect(await grant(admin, ofIdentity(who))).toBeError(409, 'ALREADY_A_MEMBER');
    mustSucceed(await admin.patch(`${PATH}/${made.id}`, { endsAt: null }));
    expect(await reads(who, project.id)).toBe(200);
    mustSucceed(await admin.delete(`/api/v1/identities/${who.identityId}`));
    expect(
      await strongroom.sql('select id from all_projects_membership where organization_id = $1', [organization.id]),
    ).toEqual([]);
  });

  test('is over at once for everybody who is asking', async () => {
    const { admin, project } = await scene();
    const group = await groupWith(admin, 'no-access');
    const crowd = await Promise.all(Array.from({ length: 10 }, () => strongroom.seed.caller(admin)));
    for (const { identityId } of crowd)
      mustSucceed(await admin.post(`/api/v1/groups/${group}/machine-identities/${identityId}`, {}));
    const { id } = await granted(admin, { memberKind: 'group', memberId: group, roleSlug: 'viewer' });
    const asking = () =>
      Promise.all(Array.from({ length: 100 }, (_, at) => reads(crowd[at % 10] as Caller, project.id)));
    expect(new Set(await asking())).toEqual(new Set([200]));
    mustSucceed(await admin.delete(`${PATH}/${id}`));
    expect(new Set(await asking())).toEqual(new Set([404]));
    for (const who of crowd) expect(await projectsOf(who)).toEqual([]);
  });

  test('is of one organization', async () => {
    const { admin, project } = await scene();
    const { admin: stranger } = await strongroom.seed.organization();
    const who = await strongroom.seed.caller(stranger);
    const made = await granted(stranger, ofIdentity(who, { roleSlug: 'admin' }));
    expect(await reads(who, project.id)).toBe(404);
    expect(await grant(admin, ofIdentity(who))).toBeError(404, 'IDENTITY_NOT_FOUND');
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        await admin.request({ method, path: `${PATH}/${made.id}`, ...(method === 'PATCH' && { body: {} }) }),
      ).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
  });
});

describe('granting a membership of all projects', () => {
  test('is for who may assign such roles, and recorded', async () => {
    const { admin, organization, maker } = await scene();
    const who = await strongroom.seed.caller(admin);
    expect(await grant(maker, ofIdentity(who))).toBeError(403, 'PERMISSION_DENIED');
    expect(await maker.get(PATH)).toBeError(403, 'PERMISSION_DENIED');
    expect(await grant(who, ofIdentity(who))).toBeError(403, 'PERMISSION_DENIED');
    const { id } = await granted(admin, ofIdentity(who, { permissions: NOT_PROD }));
    await admin.data(UPDATE, { input: { id, roleSlug: 'member' } });
    await admin.data(DELETE, { input: { id } });
    const rows = await strongroom.auditRows(`organization_id = $1 and action like 'all-projects-membership:%'`, [
      organization.id,
    ]);
    const facts = { membershipId: id, memberKind: 'identity', memberId: who.identityId, rules: 3, endsAt: null };
    expect(rows.filter(({ outcome }) => outcome !== 'denied')).toMatchObject([
      { action: 'all-projects-membership:create', facts: { ...facts, role: 'viewer' } },
      { action: 'all-projects-membership:update', facts: { ...facts, role: 'member' } },
      { action: 'all-projects-membership:delete', facts: { ...facts, role: 'member' } },
    ]);
  });

  test('says all that is wrong at once', async () => {
    const { admin, maker, project } = await scene();
    const own = await projectRole(maker, project.id);
    const body = {
      memberKind: 'identity',
      memberId: randomUUID(),
      roleSlug: own,
      endsAt: '2020-01-01T00:00:00Z',
      permissions: [
        { subject: 'secrets', action: 'readValue', inverted: true },
        { subject: 'secrets', action: 'readValue', conditions: { secretPath: '/{{identity.metadata.team}}' } },
      ],
    };
    const reply = await grant(admin, body);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'body.endsAt',
      'body.permissions[0].inverted',
      'body.permissions[1].conditions',
      'body.roleSlug',
    ]);
    expect(reply.text).toMatch(/other roles belong to one project/);
    const { roleSlug: _, permissions: __, endsAt: ___, ...rest } = body;
    expect(await grant(admin, { ...rest, roleSlug: 'viewer' })).toBeError(404, 'IDENTITY_NOT_FOUND');
    expect(await grant(admin, { ...rest, roleSlug: 'viewer', memberKind: 'group' })).toBeError(404, 'GROUP_NOT_FOUND');
  });

  test('reaches as far as one has all projects oneself, without the right to rescue', async () => {
    const { admin } = await scene();
    const lesser = await organizationCaller(strongroom, admin, {
      subject: 'workspace',
      action: ['assign-role', 'list'],
    });
    const [one, two] = [await strongroom.seed.caller(admin), await strongroom.seed.caller(admin)];
    expect(await grant(lesser, ofIdentity(one))).toBeError(403, 'PERMISSION_BOUNDARY');
    await granted(admin, ofIdentity(lesser));
    const { id } = await granted(lesser, ofIdentity(one));
    expect(await grant(lesser, ofIdentity(two, { roleSlug: 'member' }))).toBeError(403, 'PERMISSION_BOUNDARY');
    await granted(lesser, ofIdentity(two, { roleSlug: 'no-access', permissions: NOT_PROD }));
    mustSucceed(await admin.patch(`${PATH}/${id}`, { roleSlug: 'admin' }));
    expect(await lesser.delete(`${PATH}/${id}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await lesser.patch(`${PATH}/${id}`, { roleSlug: 'viewer' })).toBeError(403, 'PERMISSION_BOUNDARY');
  });

  test('extends no own term', async () => {
    const { admin } = await scene();
    const lesser = await organizationCaller(strongroom, admin, { subject: 'workspace', action: 'assign-role' });
    const endsAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = await granted(admin, ofIdentity(lesser, { endsAt }));
    expect(await lesser.patch(`${PATH}/${id}`, { endsAt: null })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await lesser.patch(`${PATH}/${id}`, { roleSlug: 'no-access' }));
  });

  test('does not happen through a group or a credential of somebody who has more', async () => {
    const { admin, maker, project } = await scene();
    const helper = await organizationCaller(
      strongroom,
      admin,
      { subject: 'groups', action: ['read', 'edit', 'add-identities'] },
      { subject: 'identity', action: ['read', 'edit', 'create-token', 'delete'] },
    );
    // All that anybody has in the projects that there are.
    mustSucceed(
      await maker.post(`/api/v2/workspace/${project.id}/identity-memberships/${helper.identityId}`, {
        roles: [{ role: 'admin' }],
      }),
    );
    const who = await strongroom.seed.caller(admin);
    const group = await groupWith(admin, 'no-access');
    await granted(admin, { memberKind: 'group', memberId: group, roleSlug: 'viewer' });
    const join = () => helper.post(`/api/v1/groups/${group}/machine-identities/${who.identityId}`, {});
    const act = () => helper.post(`/api/v1/auth/token-auth/identities/${who.identityId}/tokens`, {});
    expect(await join()).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await act());
    await granted(admin, ofIdentity(who));
    expect(await act()).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await helper.delete(`/api/v1/identities/${who.identityId}`)).toBeError(403, 'PERMISSION_BOUNDARY');
    await granted(admin, ofIdentity(helper));
    mustSucceed(await act());
    mustSucceed(await join());
  });

  test('is refused for an identity of a project', async () => {
    const { admin, maker, project } = await scene();
    const CREATE_OWN = 'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }';
    const { createIdentity } = await maker.data(CREATE_OWN, { input: { name: 'own', projectId: project.id } });
    const own = { identityId: createIdentity.identity.id } as Caller;
    expect(await grant(admin, ofIdentity(own))).toBeError(404, 'IDENTITY_NOT_FOUND');
  });
});

describe('questions about access', () => {
  const WHY = `query ($projectId: ID!, $identityId: ID) {
    explainAccess(projectId: $projectId, identityId: $identityId, subject: SECRETS, action: READ_VALUE,
      fields: { environment: "dev", secretPath: "/", secretName: "KEY" }) {
      isAllowed isMember origin { source slug isForAllProjects memberships { id } allProjectsMemberships { id roleSlug } } }
    effectivePermissions(projectId: $projectId, identityId: $identityId) { isMember permissions { origin { source isForAllProjects } } }
    accessAt(projectId: $projectId, subject: SECRETS, action: READ_VALUE, fields: { environment: "dev" }) { nodes { memberId origin { slug isForAllProjects } } }
    secretByKey(projectId: $projectId, environment: "dev", secretKey: "KEY") { readers { nodes { memberId origin { source slug isForAllProjects } } } } }`;

  test('are answered with the membership of all projects', async () => {
    const { admin, maker, project } = await scene();
    const reader = await strongroom.seed.caller(admin);
    const { id } = await granted(admin, ofIdentity(reader));
    await granted(admin, ofIdentity(admin, { roleSlug: 'admin' }));
    const found = await admin.data(WHY, { projectId: project.id, identityId: reader.identityId });
    expect(found.explainAccess).toEqual({
      isAllowed: true,
      isMember: true,
      origin: {
        ...{ source: 'ROLE', slug: 'viewer', isForAllProjects: true },
        memberships: [],
        allProjectsMemberships: [{ id, roleSlug: 'viewer' }],
      },
    });
    expect(found.effectivePermissions.permissions[0]).toEqual({ origin: { source: 'ROLE', isForAllProjects: true } });
    const originOf = (nodes: { memberId: string; origin: object }[], { identityId }: Caller) =>
      nodes.find(({ memberId }) => memberId === identityId)?.origin;
    for (const nodes of [found.accessAt.nodes, found.secretByKey.readers.nodes]) {
      expect(nodes).toHaveLength(3);
      expect(originOf(nodes, reader)).toMatchObject({ slug: 'viewer', isForAllProjects: true });
      expect(originOf(nodes, maker)).toMatchObject({ slug: 'admin', isForAllProjects: false });
    }
  });

  test('are answered with its own permissions, now and of the past', async () => {
    const { admin, maker, project } = await scene();
    const reader = await strongroom.seed.caller(admin);
    const { id } = await granted(admin, ofIdentity(reader, { roleSlug: 'no-access', permissions: NOT_PROD }));
    const [row] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now');
    const found = await maker.graphql(WHY, { projectId: project.id });
    const own = { source: 'ALL_PROJECTS_PERMISSIONS', slug: id, isForAllProjects: true };
    const isOf = ({ memberId }: { memberId: string }) => memberId === reader.identityId;
    expect(found.body.data.secretByKey.readers.nodes.find(isOf)).toEqual({ memberId: reader.identityId, origin: own });
    await granted(admin, ofIdentity(admin, { roleSlug: 'viewer' }));
    const { explainAccess } = await admin.data(WHY, { projectId: project.id, identityId: reader.identityId });
    expect(explainAccess).toMatchObject({ isAllowed: true, origin: own });
    mustSucceed(await admin.delete(`${PATH}/${id}`));
    const THEN = `query ($projectId: ID!, $at: DateTime) { accessAt(projectId: $projectId, at: $at, subject: SECRETS, action: READ_VALUE,
      fields: { environment: "dev" }) { nodes { memberId origin { source slug isForAllProjects } } } }`;
    const then = async (at?: Date) => (await maker.data(THEN, { projectId: project.id, at })).accessAt.nodes;
    expect((await then(row?.now)).find(isOf)).toEqual({ memberId: reader.identityId, origin: own });
    expect((await then()).find(isOf)).toBeUndefined();
  });
});

describe('a project without an admin of its own', () => {
  const LOST = '{ projectsWithoutAdmin { nodes { projectId } } }';
  const lost = async (by: Caller): Promise<string[]> =>
    (await by.data(LOST)).projectsWithoutAdmin.nodes.map(({ projectId }: { projectId: string }) => projectId);

  test('has one in whoever is an admin of all projects, without an end', async () => {
    const { admin, maker, project } = await scene();
    await strongroom.sql('update access_token set is_revoked = true where identity_id = $1', [maker.identityId]);
    expect(await lost(admin)).toEqual([project.id]);
    const who = await strongroom.seed.caller(admin);
    const { id } = await granted(admin, ofIdentity(who, { roleSlug: 'admin', endsAt: '2100-01-01T00:00:00Z' }));
    expect(await lost(admin)).toEqual([project.id]);
    mustSucceed(await admin.patch(`${PATH}/${id}`, { endsAt: null }));
    expect(await lost(admin)).toEqual([]);
    mustSucceed(await admin.patch(`${PATH}/${id}`, { roleSlug: 'member' }));
    expect(await lost(admin)).toEqual([project.id]);
  });
});

test('takes as many statements for 5 projects as for 500', async () => {
  const { admin, project } = await scene();
  const who = await strongroom.seed.caller(admin);
  await granted(admin, ofIdentity(who, { permissions: NOT_PROD }));
  const LISTS =
    '{ projects(first: 5) { totalCount nodes { id } } searchSecrets(input: { key: { equals: "KEY" } }) { nodes { projectId } } }';
  const work = async () => {
    mustSucceed(await read(who, project.id));
    await who.data(LISTS);
    mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${who.identityId}/tokens`, {}));
  };
  const count = async (): Promise<number> => (await strongroom.statements(work)).count;
  const make = (many: number) =>
    strongroom.sql(
      `insert into project (id, organization_id, name, slug, type, default_product, kms_secret_manager_key_id)
       select gen_random_uuid(), organization_id, 'many ' || n, 'many-' || gen_random_uuid(), type, type, kms_secret_manager_key_id
       from project cross join generate_series(1, $2::integer) n where id = $1`,
      [project.id, many],
    );
  await make(4);
  await work();
  const few = await count();
  await make(495);
  await work();
  expect(await projectsOf(who)).toHaveLength(500);
  expect(await count()).toBeLessThanOrEqual(few);
});
