import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { otherNodeInAll } from '../../kit/scope.js';
import { type OtherNode, useSharedStrongroom } from '../../kit/strongroom.js';

const KEYS = '/api/v1/organization/keys';

describe('organization keys', () => {
  const strongroom = useSharedStrongroom();
  let node: OtherNode;
  beforeAll(async () => {
    node = await otherNodeInAll(strongroom);
  });

  const makeKey = async (admin: Caller, name = `key-${randomUUID().slice(0, 8)}`) =>
    mustSucceed(await admin.post(KEYS, { name })).body.organizationKey as { id: string; version: number };
  const act = (admin: Caller, id: string, verb: 'rotate' | 'disable' | 'enable') =>
    admin.post(`${KEYS}/${id}/${verb}`, {});
  const setKey = (admin: Caller, projectId: string, organizationKeyId: string) =>
    admin.patch(`/api/v1/projects/${projectId}/key`, { organizationKeyId });

  /** A project with a key of its own and a secret, KEY_00000, whose value is `value-0`. */
  async function seed() {
    const { organization, admin } = await strongroom.seed.organization();
    const key = await makeKey(admin);
    const project = await strongroom.seed.projectOf(admin, { kmsKeyId: key.id });
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    return { organization, admin, key, project };
  }

  const place = ({ id }: { readonly id: string }) => `projectId=${id}&environment=dev`;
  const read = (caller: Caller, project: { readonly id: string }): Promise<Reply> =>
    caller.get(`/api/v4/secrets/KEY_00000?${place(project)}`);
  const readValue = async (caller: Caller, project: { readonly id: string }): Promise<string> =>
    mustSucceed(await read(caller, project)).body.secret.secretValue;
  const atNode = ({ token }: Caller): Caller => node.caller(token ?? '');

  /** Keys of projects with the versions that wrap them. */
  const wrapped = (organizationId: string) =>
    strongroom.sql<{ projectId: string; parent: string; isCurrent: boolean; sealed: string }>(
      `select k.project_id as "projectId", coalesce(p.organization_key_id::text, 'default') as parent,
         p.retired_at is null as "isCurrent", encode(k.wrapped_key_sealed, 'hex') as sealed
       from data_key k join data_key p on p.id = k.parent_key_id where k.organization_id = $1 order by k.id`,
      [organizationId],
    );
  const sealedValues = (projectId: string) =>
    strongroom.sql('select id, value_sealed, comment_sealed from secret where project_id = $1 order by id', [
      projectId,
    ]);

  test('are listed with the default key, and show no material', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const made = mustSucceed(await admin.post(KEYS, { name: 'payments', description: 'Of the team' })).body;
    expect(made.organizationKey).toEqual({
      id: expect.any(String),
      organizationId: organization.id,
      name: 'payments',
      description: 'Of the team',
      isDefault: false,
      version: 1,
      disabledAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const { organizationKeys } = mustSucceed(await admin.get(KEYS)).body;
    expect(organizationKeys).toEqual([
      expect.objectContaining({ name: 'default', isDefault: true, version: 1 }),
      made.organizationKey,
    ]);
    const plain = mustSucceed(await admin.post('/api/v2/workspace', { projectName: 'Plain' })).body.project;
    expect(plain.kmsSecretManagerKeyId).toBe(organizationKeys[0].id);
    const own = mustSucceed(
      await admin.post('/api/v2/workspace', { projectName: 'Own', kmsKeyId: made.organizationKey.id }),
    ).body.project;
    expect(own.kmsSecretManagerKeyId).toBe(made.organizationKey.id);
    const { node: found } = await admin.data(
      'query ($id: ID!) { node(id: $id) { ... on OrganizationKey { name organization { id } } } }',
      {
        id: made.organizationKey.id,
      },
    );
    expect(found).toEqual({ name: 'payments', organization: { id: organization.id } });
  });

  test.each([
    ['default', 'that has opened them'],
    ['default', 'that has opened none of them'],
    ['own', 'that has opened them'],
    ['own', 'that has opened none of them'],
  ] as const)(
    'rotated, the %s key wraps the keys of its projects anew and touches no value, also for a node %s',
    async (which, knows) => {
      const { organization, admin, key, project } = await seed();
      const plain = await strongroom.seed.projectOf(admin);
      await strongroom.seed.secrets(admin, plain, 'dev', 1);
      mustSucceed(await admin.patch(`/api/v1/projects/${plain.id}`, { secretDetectionIgnoreValues: ['ignored'] }));
      const expectToOpenAt = async (caller: Caller): Promise<void> =>
        expect(await Promise.all([readValue(caller, project), readValue(caller, plain)])).toEqual([
          'value-0',
          'value-0',
        ]);
      if (knows === 'that has opened them') await expectToOpenAt(atNode(admin));
      const rotated = which === 'own' ? project : plain;
      const { organizationKeys } = mustSucceed(await admin.get(KEYS)).body;
      const id =
        which === 'own' ? key.id : organizationKeys.find(({ isDefault }: { isDefault: boolean }) => isDefault).id;
      const values = await sealedValues(rotated.id);
      const before = await wrapped(organization.id);

      expect(mustSucceed(await act(admin, id, 'rotate')).body.organizationKey).toMatchObject({ id, version: 2 });

      const after = await wrapped(organization.id);
      expect(after.map(({ projectId, parent, isCurrent }) => [projectId, parent, isCurrent])).toEqual(
        before.map(({ projectId, parent }) => [projectId, parent, true]),
      );
      const changed = after.filter(({ sealed }, at) => sealed !== before[at]?.sealed);
      expect(changed.map(({ projectId }) => projectId)).toEqual([rotated.id]);
      expect(await sealedValues(rotated.id)).toEqual(values);
      for (const caller of [admin, atNode(admin)]) {
        await expectToOpenAt(caller);
        const { project: settings } = mustSucceed(await caller.get(`/api/v1/projects/${plain.id}`)).body;
        expect(settings.secretDetectionIgnoreValues).toEqual(['ignored']);
      }
    },
  );

  test('disabled, let nobody read or write values of their projects on any node, kept responses included, until enabled', async () => {
    const { admin, key, project } = await seed();
    const other = await strongroom.seed.projectOf(admin);
    await strongroom.seed.secrets(admin, other, 'dev', 1);
    const list = `/api/v4/secrets?${place(project)}`;
    for (const caller of [admin, atNode(admin)]) {
      expect(await readValue(caller, project)).toBe('value-0');
      mustSucceed(await caller.get(list));
      mustSucceed(await caller.get(list));
    }
    const write = { projectId: project.id, environment: 'dev', secretValue: 'kept' };
    const headers = { 'idempotency-key': randomUUID() };
    mustSucceed(await admin.post('/api/v4/secrets/SENT_TWICE', write, headers));
    // What values reference is a part of them.
    const named = async (caller: Caller) => {
      const { body } = await caller.graphql(
        'query ($id: ID!) { secrets(projectId: $id, environment: "dev", viewSecretValue: false) { nodes { references { secretKey } } } }',
        { id: project.id },
      );
      return body.data.secrets.nodes.flatMap(({ references }: { references: object | null }, at: number) => [
        references,
        body.errors?.[at].extensions.code ?? null,
      ]);
    };
    expect(await named(admin)).toEqual([[], null, [], null]);
    let isDisabled = false;
    // Responses of the moment in which the key is disabled are not kept either.
    const polling = (async () => {
      while (!isDisabled) await atNode(admin).get(list);
    })();
    const { disabledAt } = mustSucceed(await act(admin, key.id, 'disable')).body.organizationKey;
    isDisabled = true;
    await polling;
    expect(await admin.post('/api/v4/secrets/SENT_TWICE', write, headers)).toBeError(409, 'KEY_DISABLED');
    expect(disabledAt).toEqual(expect.any(String));
    for (const caller of [admin, atNode(admin)]) {
      const body = { projectId: project.id, environment: 'dev', secretValue: 'new' };
      for (const refused of [
        await read(caller, project),
        await caller.get(list),
        await caller.patch('/api/v4/secrets/KEY_00000', body),
        await caller.post(`/api/v4/secrets/NEW_${randomUUID().slice(0, 4).toUpperCase()}`, body),
        await caller.post('/api/v2/workspace', { projectName: 'Another', kmsKeyId: key.id }),
        await setKey(caller, other.id, key.id),
      ])
        expect(refused).toBeError(409, 'KEY_DISABLED');
      expect(await named(caller)).toEqual([null, 'KEY_DISABLED', null, 'KEY_DISABLED']);
      // Everything else goes on.
      expect(await readValue(caller, other)).toBe('value-0');
      mustSucceed(await caller.get(`/api/v1/projects/${project.id}`));
    }
    mustSucceed(await act(admin, key.id, 'enable'));
    for (const caller of [admin, atNode(admin)]) {
      expect(await readValue(caller, project)).toBe('value-0');
      expect(mustSucceed(await caller.get(list)).body.secrets).toHaveLength(2);
    }
  });

  test('of a project change without touching values; the former key can be disabled then', async () => {
    const { organization, admin, key, project } = await seed();
    const next = await makeKey(admin);
    expect(await readValue(atNode(admin), project)).toBe('value-0');
    const values = await sealedValues(project.id);
    expect(mustSucceed(await setKey(admin, project.id, next.id)).body.organizationKey.id).toBe(next.id);
    expect(await sealedValues(project.id)).toEqual(values);
    expect((await wrapped(organization.id)).map(({ parent }) => parent)).toEqual([next.id]);
    mustSucceed(await act(admin, key.id, 'disable'));
    for (const caller of [admin, atNode(admin)]) expect(await readValue(caller, project)).toBe('value-0');
    mustSucceed(await act(admin, next.id, 'disable'));
    for (const caller of [admin, atNode(admin)]) expect(await read(caller, project)).toBeError(409, 'KEY_DISABLED');
    // Whoever may edit keys enables it first.
    expect(await setKey(admin, project.id, key.id)).toBeError(409, 'KEY_DISABLED');
  });

  test('rotate while projects are made with them: every project is wrapped by a version of its key and opens', async () => {
    const { organization, admin, key } = await seed();
    const rotations = Promise.all(Array.from({ length: 4 }, () => act(atNode(admin).patient, key.id, 'rotate')));
    const projects = await Promise.all(
      Array.from({ length: 8 }, () => strongroom.seed.projectOf(admin.patient, { kmsKeyId: key.id })),
    );
    for (const reply of await rotations) mustSucceed(reply);
    mustSucceed(await act(admin, key.id, 'rotate'));
    const rows = await wrapped(organization.id);
    expect(rows).toHaveLength(9);
    expect(rows.filter(({ parent, isCurrent }) => parent !== key.id || !isCurrent)).toEqual([]);
    for (const project of projects) {
      await strongroom.seed.secrets(admin, project, 'dev', 1);
      expect(await readValue(atNode(admin), project)).toBe('value-0');
    }
  });
});
