import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { FakeDatatool } from '../../kit/datatool.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { ALL, DATATOOL, detailsOf, makeConnection, postConnection } from './kit.js';

const strongroom = useSharedStrongroom(LENIENT);

let datatool: FakeDatatool;
beforeEach(async () => {
  datatool = await FakeDatatool.start();
});
afterEach(() => datatool.stop());

const post = (admin: Caller, more: object = {}) => postConnection(admin, datatool, more);
const make = (admin: Caller, more: object = {}) => makeConnection(admin, datatool, more);

/** A caller with these rules in a project, and in its organization. */
async function callerWith(admin: Caller, projectId: string, rules: { project?: object[]; organization?: object[] }) {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  const role = (permissions: object[] = []) => ({ slug, name: slug, permissions });
  mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, role(rules.project)));
  mustSucceed(await admin.post('/api/v1/organization/roles', role(rules.organization)));
  const caller = await strongroom.seed.caller(admin, { project: projectId, projectRoles: [slug] });
  const { organization } = await admin.data('{ organization { id } }');
  await admin.data(
    'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
    {
      input: { organizationId: organization.id, identityId: caller.identityId, roleSlug: slug },
    },
  );
  return caller;
}

describe('a new connection', () => {
  test('has the fields of the interface, in their order, and shows no token anywhere', async () => {
    const { admin, project, organization } = await strongroom.seed.project();

    const reply = await post(admin, { name: 'analytics', description: ' Of the shop ', projectId: project.id });

    const { appConnection } = mustSucceed(reply).body;
    expect(Object.keys(appConnection)).toEqual(
      ['id name orgId createdAt updatedAt app method credentials description version isPlatformManagedCredentials']
        .concat('gatewayId projectId credentialsHash project')
        .join(' ')
        .split(' '),
    );
    expect(appConnection).toMatchObject({
      name: 'analytics',
      orgId: organization.id,
      app: 'datatool',
      method: 'api-token',
      credentials: { instanceUrl: datatool.url, accountId: datatool.accountId },
      description: 'Of the shop',
      version: 1,
      isPlatformManagedCredentials: false,
      gatewayId: null,
      projectId: project.id,
      credentialsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      project: { name: project.name, id: project.id, type: 'secret-manager', slug: project.slug },
    });
    expect(datatool.calls).toEqual([
      expect.objectContaining({ method: 'GET', path: `/api/v2/accounts/${datatool.accountId}/` }),
    ]);
    const shown = await Promise.all(
      [
        ALL,
        DATATOOL,
        `${DATATOOL}?projectId=${project.id}`,
        `${DATATOOL}/${appConnection.id}`,
        `${DATATOOL}/available`,
      ].map((path) => admin.get(path)),
    );
    const rows = await strongroom.sql('select to_jsonb(c)::text as text from app_connection c where id = $1', [
      appConnection.id,
    ]);
    const trail = await strongroom.auditRows('organization_id = $1', [organization.id]);
    for (const text of [
      reply.text,
      ...shown.map((each) => mustSucceed(each).text),
      JSON.stringify([rows, trail]),
      await strongroom.log(),
    ])
      expect(text).not.toContain(datatool.apiToken);
  });

  test('of the organization has no project', async () => {
    const { admin } = await strongroom.seed.organization();

    expect(mustSucceed(await post(admin)).body.appConnection).toMatchObject({ projectId: null, project: null });
  });

  test('has a name that is unique in the project, or among those of the organization itself', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.projectOf(admin);
    for (const projectId of [undefined, project.id, other.id]) await make(admin, { name: 'analytics', projectId });

    for (const projectId of [null, project.id])
      expect(await post(admin, { name: 'analytics', projectId })).toBeError(409, 'APP_CONNECTION_NAME_TAKEN');
  });

  test.each([
    ['a token that is not valid', { apiToken: 'wrong' }, 'UPSTREAM_REJECTED', 'body.credentials CREDENTIALS_REJECTED'],
    ['another account', { accountId: '4711' }, 'UPSTREAM_REJECTED', 'body.credentials TARGET_NOT_FOUND'],
    [
      'a port where nobody listens',
      { instanceUrl: 'http://127.0.0.1:9' },
      'UPSTREAM_UNREACHABLE',
      'body.credentials TARGET_UNREACHABLE',
    ],
  ])('is not made with %s', async (_, wrong, code, detail) => {
    const { admin } = await strongroom.seed.organization();

    const reply = await post(admin, { credentials: { ...datatool.credentials, ...wrong } });

    expect(reply).toBeError(502, code);
    expect(detailsOf(reply)).toEqual([detail]);
    expect(reply.text).not.toMatch(/Invalid token|requested resource/);
    expect(mustSucceed(await admin.get(DATATOOL)).body.appConnections).toEqual([]);
  });

  test('is refused with all its faults at once, and nobody outside is asked', async () => {
    const { admin } = await strongroom.seed.organization();

    const reply = await post(admin, {
      name: 'Not A Slug',
      method: 'oauth',
      description: 'x'.repeat(257),
      credentials: { instanceUrl: 'nowhere', accountId: 'x', apiToken: '' },
      isPlatformManagedCredentials: true,
      gatewayId: randomUUID(),
    });

    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(
      detailsOf(reply)
        .map((detail) => detail.split(' ')[0])
        .sort(),
    ).toEqual([
      'body.credentials.accountId',
      'body.credentials.apiToken',
      'body.credentials.instanceUrl',
      'body.description',
      'body.gatewayId',
      'body.isPlatformManagedCredentials',
      'body.method',
      'body.name',
    ]);
    expect(datatool.calls).toEqual([]);
  });
});

describe('connections', () => {
  test('are listed by name: all of the organization, those of one project, and each by its name', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id: first } = await make(admin, { name: 'b-first' });
    const { id: second } = await make(admin, { name: 'a-second', projectId: project.id });
    const namesAt = async (path: string) =>
      mustSucceed(await admin.get(path)).body.appConnections.map(({ name }: { name: string }) => name);

    expect(await namesAt(DATATOOL)).toEqual(['a-second', 'b-first']);
    expect(await namesAt(ALL)).toEqual(['a-second', 'b-first']);
    expect(await namesAt(`${DATATOOL}?projectId=${project.id}`)).toEqual(['a-second']);
    expect(await namesAt(`${DATATOOL}?limit=1`)).toEqual(['a-second']);
    const byName = async (path: string) =>
      (await admin.get(`${DATATOOL}/connection-name/${path}`)).body.appConnection?.id;
    expect(await byName('b-first')).toBe(first);
    expect(await byName(`a-second?projectId=${project.id}`)).toBe(second);
    expect(await admin.get(`${DATATOOL}/connection-name/a-second`)).toBeError(404, 'APP_CONNECTION_NOT_FOUND');
    expect(mustSucceed(await admin.get(`${DATATOOL}/available`)).body.appConnections).toEqual([
      { app: 'datatool', name: 'b-first', id: first, projectId: null, orgId: expect.any(String) },
    ]);
    expect(await namesAt(`${DATATOOL}/available?projectId=${project.id}`)).toEqual(['a-second', 'b-first']);
  });

  test('are shown as far as conditions on them allow', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id: open } = await make(admin, { name: 'open' });
    const { id: closed } = await make(admin, { name: 'closed' });
    const { id: own } = await make(admin, { name: 'own', projectId: project.id });
    const { id: other } = await make(admin, { name: 'other', projectId: project.id });
    const on = (ids: string[]) => ({ connectionId: { $in: ids } });
    const caller = await callerWith(admin, project.id, {
      organization: [
        { subject: 'app-connections', action: ['read', 'connect', 'edit', 'delete'], conditions: on([open]) },
      ],
      project: [
        {
          subject: 'app-connections',
          action: ['read-app-connections', 'connect-app-connections', 'edit-app-connections'],
          conditions: on([own]),
        },
      ],
    });
    const idsAt = async (path: string) =>
      mustSucceed(await caller.get(path)).body.appConnections.map(({ id }: { id: string }) => id);

    expect(await idsAt(DATATOOL)).toEqual([open]);
    expect(await idsAt(`${DATATOOL}?projectId=${project.id}`)).toEqual([own]);
    expect(await idsAt(`${DATATOOL}/available?projectId=${project.id}`)).toEqual([open, own]);
    for (const id of [open, own]) {
      mustSucceed(await caller.get(`${DATATOOL}/${id}`));
      mustSucceed(await caller.patch(`${DATATOOL}/${id}`, { description: 'Changed' }));
      mustSucceed(await caller.get(`${DATATOOL}/${id}/projects`));
    }
    for (const id of [closed, other]) {
      expect(await caller.get(`${DATATOOL}/${id}`)).toBeError(403, 'PERMISSION_DENIED');
      expect(await caller.patch(`${DATATOOL}/${id}`, { description: 'Changed' })).toBeError(403, 'PERMISSION_DENIED');
      expect(await caller.get(`${DATATOOL}/${id}/projects`)).toBeError(403, 'PERMISSION_DENIED');
    }
    expect(await caller.delete(`${DATATOOL}/${own}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await post(caller)).toBeError(403, 'PERMISSION_DENIED');
    expect(datatool.calls.filter(({ call }) => call === 'projects')).toHaveLength(2);
    const { nodes } = await caller.data('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: [open, closed, own, other],
    });
    expect(nodes).toEqual([{ id: open }, null, { id: own }, null]);
  });

  test('of a project are read with the right in the organization, and hidden from who has neither', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id } = await make(admin, { projectId: project.id });
    const elsewhere = await strongroom.seed.projectOf(admin);
    const reader = await callerWith(admin, elsewhere.id, {
      organization: [{ subject: 'app-connections', action: 'read' }],
    });
    const editor = await callerWith(admin, elsewhere.id, {
      organization: [{ subject: 'app-connections', action: ['edit', 'delete', 'connect'] }],
    });

    mustSucceed(await reader.get(`${DATATOOL}/${id}`));
    expect(await reader.delete(`${DATATOOL}/${id}`)).toBeError(403, 'PERMISSION_DENIED');
    for (const reply of [
      await editor.patch(`${DATATOOL}/${id}`, { description: 'x' }),
      await editor.delete(`${DATATOOL}/${id}`),
      await editor.post(`${DATATOOL}/${id}/check`),
    ])
      expect(reply).toBeError(404, 'APP_CONNECTION_NOT_FOUND');
  });

  test('of another app, and with ids that nobody has, are not found', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await make(admin);
    await strongroom.sql(`update app_connection set app = 'smb' where id = $1`, [id]);

    for (const named of [id, randomUUID(), 'no-id'])
      for (const reply of [
        await admin.get(`${DATATOOL}/${named}`),
        await admin.patch(`${DATATOOL}/${named}`, {}),
        await admin.delete(`${DATATOOL}/${named}`),
        await admin.get(`${DATATOOL}/${named}/projects`),
        await admin.post(`${DATATOOL}/${named}/check`),
      ])
        expect(reply).toBeError(404, 'APP_CONNECTION_NOT_FOUND');
  });

  test('tell the projects of their account, whose numbers are large', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await make(admin);
    datatool.addProject('Sales', 'Of the shop');

    expect(mustSucceed(await admin.get(`${DATATOOL}/${id}/projects`)).body).toEqual({
      projects: [
        { id: 123, name: 'Analytics', description: null, createdAt: expect.any(String), updatedAt: expect.any(String) },
        {
          id: 124,
          name: 'Sales',
          description: 'Of the shop',
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
        },
      ],
    });
    datatool.fail({ on: 'projects', how: 503 });
    expect(await admin.get(`${DATATOOL}/${id}/projects`)).toBeError(502, 'UPSTREAM_REJECTED');
  });

  test('of one kind can be made so far', async () => {
    const { admin } = await strongroom.seed.organization();

    const { appConnectionOptions } = mustSucceed(await admin.get(`${ALL}/options`)).body;
    expect(appConnectionOptions).toContainEqual({ name: 'Analytics tool', app: 'datatool', methods: ['api-token'] });
  });

  test('in use are not deleted: rotations that the caller may read are named, and others counted', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id } = await make(admin);
    const elsewhere = await strongroom.seed.projectOf(
      await strongroom.seed.caller(admin, { organizationRole: 'admin' }),
    );
    for (const [projectId, name] of [
      [project.id, 'nightly'],
      [elsewhere.id, 'hidden'],
    ])
      await strongroom.sql(
        `insert into secret_rotation (id, organization_id, project_id, environment_id, folder_id, connection_id, type, name, parameters,
           secrets_mapping, is_auto_rotation_enabled, rotation_interval, rotate_at_hours, rotate_at_minutes, schedule, status)
         select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, $2, 'datatool-service-token', $3, '{}', '{}', false, 1,
           0, 0, '{}', 'success'
         from folder f join environment e on e.id = f.environment_id where f.project_id = $1 and f.path = '/' and e.slug = 'dev'`,
        [projectId, id, name],
      );

    const reply = await admin.delete(`${DATATOOL}/${id}`);
    const { appConnection } = await admin.data(
      'query ($id: ID!) { appConnection(id: $id) { usedBy { rotationName environment path project { id } } } }',
      { id },
    );

    expect(reply).toBeError(409, 'CONNECTION_IN_USE');
    expect(reply.body.details.map(({ message }: { message: string }) => message)).toEqual([
      'used by the rotation nightly',
      'used by rotations that you cannot read: 1',
    ]);
    expect(reply.text).not.toContain('hidden');
    expect(appConnection.usedBy).toEqual([
      { rotationName: 'nightly', environment: 'dev', path: '/', project: { id: project.id } },
    ]);
    mustSucceed(await admin.get(`${DATATOOL}/${id}`));
  });

  test('are deleted, and the project may be too', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id } = await make(admin);
    await make(admin, { projectId: project.id });

    expect(mustSucceed(await admin.delete(`${DATATOOL}/${id}`)).body.appConnection.id).toBe(id);
    expect(await admin.get(`${DATATOOL}/${id}`)).toBeError(404, 'APP_CONNECTION_NOT_FOUND');
    mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`));
    expect(mustSucceed(await admin.get(DATATOOL)).body.appConnections).toEqual([]);
  });
});

describe('in GraphQL', () => {
  test('a connection is made, read by what it is, and changed', async () => {
    const { admin, project } = await strongroom.seed.project();
    const fields = `id name app checkState checkCode project { slug } usedBy { rotationName }
      ... on DatatoolConnectedApp { credentials { instanceUrl accountId } }`;

    const { createAppConnection } = await admin.data(
      `mutation ($input: CreateAppConnectionInput!) { createAppConnection(input: $input) { appConnection { ${fields} } } }`,
      { input: { projectId: project.id, name: 'analytics', credentials: { datatool: datatool.credentials } } },
    );
    const { id } = createAppConnection.appConnection;
    const { node, appConnections } = await admin.data(
      `query ($id: ID!) { node(id: $id) { __typename ... on ConnectedApp { ${fields} } } appConnections { totalCount nodes { ${fields} } } }`,
      { id },
    );
    const changed = await admin.graphql(
      'mutation ($input: UpdateAppConnectionInput!) { updateAppConnection(input: $input) { appConnection { version } } }',
      { input: { id, credentials: { datatool: { apiToken: 'wrong' } } } },
    );

    expect(createAppConnection.appConnection).toEqual({
      id,
      name: 'analytics',
      app: 'DATATOOL',
      checkState: 'WORKING',
      checkCode: null,
      project: { slug: project.slug },
      usedBy: [],
      credentials: { instanceUrl: datatool.url, accountId: datatool.accountId },
    });
    expect(node).toEqual({ __typename: 'DatatoolConnectedApp', ...createAppConnection.appConnection });
    expect(appConnections).toEqual({ totalCount: 1, nodes: [createAppConnection.appConnection] });
    expect(changed).toBeError(502, 'UPSTREAM_REJECTED');
    expect(changed.body.errors[0].extensions.details).toMatchObject([
      { path: 'input.credentials', code: 'CREDENTIALS_REJECTED' },
    ]);
  });
});
