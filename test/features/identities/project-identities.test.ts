import { Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const CREATE =
  'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id projectId roleSlug metadata { key value } } } }';

describe('an identity that a project owns', () => {
  const strongroom = useSharedStrongroom();
  const identity = (...action: string[]): GivenRule => ({ subject: 'identity', action });

  async function owned() {
    const { admin, project, organization } = await strongroom.seed.project();
    const { createIdentity } = await admin.data(CREATE, { input: { name: 'robot', projectId: project.id } });
    return { admin, project, organization, id: createIdentity.identity.id as string };
  }

  const withRules = async (admin: Caller, projectId: string, ...rules: readonly GivenRule[]): Promise<Caller> =>
    (await callerWithRules(strongroom, admin, projectId, ...rules)).caller;

  test('has no role in the organization, and is a member of its project without rights', async () => {
    const { admin, project, id } = await owned();
    const { identity: found } = mustSucceed(await admin.get(`/api/v1/identities/${id}`)).body;
    expect(found).toMatchObject({ projectId: project.id, role: 'no-access', metadata: [] });
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${id}`;
    expect(mustSucceed(await admin.get(path)).body.identityMembership.roles).toMatchObject([{ role: 'no-access' }]);
    expect(await admin.patch(`/api/v1/identities/${id}`, { role: 'member' })).toBeError(422, 'VALIDATION_FAILED');
    const wrong = { name: 'robot', projectId: project.id, role: 'member' };
    const refused = await admin.post('/api/v1/identities', wrong);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details[0].message).toContain('must be no-access for an identity of a project');
  });

  test('is managed by rights in the project alone, from its creation to its tokens', async () => {
    const { admin, project } = await owned();
    const manager = await withRules(
      admin,
      project.id,
      identity('read', 'create', 'edit', 'delete', 'create-token', 'get-token', 'delete-token', 'revoke-auth'),
    );
    const made = mustSucceed(await manager.post('/api/v1/identities', { name: 'bot', projectId: project.id })).body;
    const { id } = made.identity;
    const auth = `/api/v1/auth/token-auth/identities/${id}`;
    mustSucceed(await manager.post(auth, {}));
    const { accessToken, tokenData } = mustSucceed(await manager.post(`${auth}/tokens`, { name: 'one' })).body;
    expect(mustSucceed(await manager.get(`${auth}/tokens`)).body.tokens).toHaveLength(1);
    const token = `/api/v1/auth/token-auth/tokens/${tokenData.id}`;
    expect(mustSucceed(await manager.get(token)).body.token.name).toBe('one');
    mustSucceed(await manager.patch(token, { name: 'two' }));
    const robot = new Caller(admin.url, accessToken);
    expect((await robot.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
    mustSucceed(await manager.post(`${token}/revoke`));
    expect(await robot.get(`/api/v1/projects/${project.id}`)).toBeError(401, 'TOKEN_REVOKED');
    mustSucceed(await manager.patch(`/api/v1/identities/${id}`, { name: 'renamed' }));
    const { projectIdentities } = await manager.data(
      'query ($id: ID!) { projectIdentities(projectId: $id) { nodes { name tokenAuth { accessTokenTTL } } } }',
      { id: project.id },
    );
    expect(projectIdentities.nodes).toEqual([
      { name: 'renamed', tokenAuth: { accessTokenTTL: 2_592_000 } },
      { name: 'robot', tokenAuth: null },
    ]);
    mustSucceed(await manager.delete(auth));
    mustSucceed(await manager.delete(`/api/v1/identities/${id}`));
    expect(await manager.get(`/api/v1/identities/${id}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await admin.get(`/api/v1/identities/${id}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('is judged by conditions on its id', async () => {
    const { admin, project, id } = await owned();
    const other = await admin.data(CREATE, { input: { name: 'other', projectId: project.id } });
    const caller = await withRules(admin, project.id, { ...identity('read', 'edit'), conditions: { identityId: id } });
    mustSucceed(await caller.patch(`/api/v1/identities/${id}`, { name: 'renamed' }));
    const path = `/api/v1/identities/${other.createIdentity.identity.id}`;
    expect(await caller.patch(path, { name: 'renamed' })).toBeError(403, 'PERMISSION_DENIED');
    const { projectIdentities } = await caller.data(
      'query ($id: ID!) { projectIdentities(projectId: $id) { nodes { id } } }',
      { id: project.id },
    );
    expect(projectIdentities.nodes).toEqual([{ id }]);
  });

  test('is not found by an admin of the organization who is no member, nor listed among those of the organization', async () => {
    const { admin, id } = await owned();
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    expect(await colleague.get(`/api/v1/identities/${id}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
    expect(await colleague.delete(`/api/v1/identities/${id}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
    const { identities } = mustSucceed(await admin.get('/api/v1/identities')).body;
    expect(identities.map((each: { id: string }) => each.id)).not.toContain(id);
  });

  test('works in no other project and takes no role of the organization', async () => {
    const { admin, organization, id } = await owned();
    const other = await strongroom.seed.projectOf(admin);
    const path = `/api/v2/workspace/${other.id}/identity-memberships/${id}`;
    expect(await admin.post(path, { role: 'viewer' })).toBeError(404, 'IDENTITY_NOT_FOUND');
    const reply = await admin.graphql(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
      { input: { organizationId: organization.id, identityId: id, roleSlug: 'admin' } },
    );
    expect(reply).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('goes with its project, tokens too', async () => {
    const { admin, project, id } = await owned();
    const auth = `/api/v1/auth/token-auth/identities/${id}`;
    mustSucceed(await admin.post(auth, {}));
    const { accessToken } = mustSucceed(await admin.post(`${auth}/tokens`, {})).body;
    mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`));
    expect(await new Caller(admin.url, accessToken).get('/api/v1/projects')).toBeError(401, 'TOKEN_INVALID');
    expect(await strongroom.sql('select 1 from identity where id = $1', [id])).toEqual([]);
  });
});

describe('metadata of an identity', () => {
  const strongroom = useSharedStrongroom();

  test('can be named by rules, and needs the right to give privileges', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (const key of ['RED', 'BLUE'])
      await admin.post(`/api/v4/secrets/${key}`, { projectId: project.id, environment: 'dev', secretValue: key });
    const conditions = { secretName: '{{identity.metadata.team}}' };
    const rule = { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions };
    const { caller } = await callerWithRules(strongroom, admin, project.id, rule);
    const list = `/api/v4/secrets?projectId=${project.id}&environment=dev`;
    const keys = async () =>
      ((await caller.get(list)).body.secrets ?? []).map((each: { secretKey: string }) => each.secretKey);
    const path = `/api/v1/identities/${caller.identityId}`;
    expect(await keys()).toEqual([]);
    mustSucceed(await admin.patch(path, { metadata: [{ key: 'team', value: 'RED' }] }));
    expect(await keys()).toEqual(['RED']);
    mustSucceed(await admin.patch(path, { metadata: [{ key: 'team', value: 'BLUE' }] }));
    expect(await keys()).toEqual(['BLUE']);
    mustSucceed(await admin.patch(path, { metadata: [{ key: 'team', value: '' }] }));
    expect(await keys()).toEqual([]);
    const twice = [
      { key: 'a', value: '1' },
      { key: 'a', value: '2' },
    ];
    expect(await admin.patch(path, { metadata: twice })).toBeError(422, 'VALIDATION_FAILED');
    const rules = { subject: 'identity', action: ['read', 'create', 'edit'] };
    const { caller: editor } = await callerWithRules(strongroom, admin, project.id, rules);
    const body = { name: 'bot', projectId: project.id, metadata: [{ key: 'team', value: 'RED' }] };
    expect(await editor.post('/api/v1/identities', body)).toBeError(403, 'PERMISSION_DENIED');
  });
});
