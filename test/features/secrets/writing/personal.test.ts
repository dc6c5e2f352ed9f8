import { useSharedStrongroom } from '../../../kit/strongroom.js';

const DELETE =
  'mutation ($input: DeleteSecretByKeyInput!) { deleteSecretByKey(input: $input) { secret { type secretValue } } }';

describe('personal secrets', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    await admin.post('/api/v4/secrets/DB', { ...at, secretValue: 'shared', secretComment: 'of all' });
    const ada = await strongroom.seed.user(admin, { project: project.id });
    return { admin, project, at, ada };
  }

  test('are made, changed and deleted by their owner, who needs no more than to know of the shared one', async () => {
    const { admin, at, ada } = await seeded();
    const made = await ada.post('/api/v4/secrets/DB', { ...at, type: 'personal', secretValue: 'mine' });
    expect(made.status).toBe(200);
    expect(made.body.secret).toMatchObject({
      type: 'personal',
      secretKey: 'DB',
      secretValue: 'mine',
      version: 1,
      secretComment: '',
    });
    expect(await ada.post('/api/v4/secrets/DB', { ...at, type: 'personal', secretValue: 'again' })).toBeError(
      409,
      'SECRET_KEY_TAKEN',
    );
    const changed = await ada.patch('/api/v4/secrets/DB', { ...at, type: 'personal', secretComment: 'my own' });
    expect(changed.body.secret).toMatchObject({ secretValue: 'mine', secretComment: 'my own', version: 2 });
    const { deleteSecretByKey } = await ada.data(DELETE, { input: { ...at, type: 'PERSONAL', secretKey: 'DB' } });
    expect(deleteSecretByKey.secret).toEqual({ type: 'PERSONAL', secretValue: 'mine' });
    expect(await ada.patch('/api/v4/secrets/DB', { ...at, type: 'personal', secretValue: 'x' })).toBeError(
      404,
      'SECRET_NOT_FOUND',
    );
    const shared = await admin.get(`/api/v4/secrets/DB?projectId=${at.projectId}&environment=dev`);
    expect(shared.body.secret).toMatchObject({ secretValue: 'shared', version: 1 });
  });

  test('are nobody else’s: not of another user, not of an identity', async () => {
    const { admin, project, at, ada } = await seeded();
    const bob = await strongroom.seed.user(admin, { project: project.id, projectRoles: ['admin'] });
    await ada.post('/api/v4/secrets/DB', { ...at, type: 'personal', secretValue: 'mine' });
    expect(await bob.delete('/api/v4/secrets/DB', { ...at, type: 'personal' })).toBeError(404, 'SECRET_NOT_FOUND');
    const asMachine = await admin.post('/api/v4/secrets/DB', { ...at, type: 'personal', secretValue: 'x' });
    expect(asMachine).toBeError(422, 'VALIDATION_FAILED');
    expect(asMachine.body.details).toMatchObject([{ path: 'body.type', code: 'PERSONAL_NEEDS_USER' }]);
    for (const caller of [admin, bob]) {
      const { secrets } = (await caller.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`)).body;
      expect(secrets.map(({ secretValue }: { secretValue: string }) => secretValue)).toEqual(['shared']);
    }
    const stored = await strongroom.sql('select * from personal_secret where user_id = $1', [ada.userId]);
    expect(stored).toHaveLength(1);
    expect(Buffer.from(stored[0]?.value_sealed).includes('mine')).toBe(false);
  });

  test('stay as their owner wrote them when what they refer to gets another key, and tell the owner', async () => {
    const { admin, project, at, ada } = await seeded();
    await admin.post('/api/v4/secrets/BASE', { ...at, secretValue: 'base' });
    await admin.post('/api/v4/secrets/OTHER', { ...at, secretValue: 'its ${BASE}' });
    await ada.post('/api/v4/secrets/DB', { ...at, type: 'personal', secretValue: 'my ${BASE}' });
    await ada.post('/api/v4/secrets/BASE', { ...at, type: 'personal', secretValue: 'my own' });
    await admin.patch('/api/v4/secrets/BASE', { ...at, newSecretName: 'GROUND' });
    const query = `query ($id: ID!, $key: String!, $type: SecretType!) {
      secretByKey(projectId: $id, environment: "dev", secretKey: $key, type: $type, expandSecretReferences: true) {
        version secretValue referenceIssues { reference reason } } }`;
    const read = async (key: string, type: string) =>
      (await ada.data(query, { id: project.id, key, type })).secretByKey;
    expect(await read('OTHER', 'SHARED')).toMatchObject({ version: 2, secretValue: 'its base' });
    expect(await read('DB', 'PERSONAL')).toEqual({
      version: 1,
      secretValue: 'my ${BASE}',
      referenceIssues: [{ reference: '${BASE}', reason: 'MISSING' }],
    });
    expect(await read('GROUND', 'PERSONAL')).toMatchObject({ version: 1, secretValue: 'my own' });
  });

  test('have a value and a comment, and go with the shared one', async () => {
    const { admin, at, ada } = await seeded();
    const tooMuch = await ada.post('/api/v4/secrets/DB', {
      ...at,
      type: 'personal',
      secretMetadata: [{ key: 'a' }],
      secretReminderNote: 'x',
    });
    expect(tooMuch.body.details).toMatchObject([
      { path: 'body.secretMetadata', code: 'NOT_PERSONAL' },
      { path: 'body.secretReminderNote', code: 'NOT_PERSONAL' },
    ]);
    expect(await ada.post('/api/v4/secrets/NONE', { ...at, type: 'personal' })).toBeError(404, 'SECRET_NOT_FOUND');
    await ada.post('/api/v4/secrets/DB', { ...at, type: 'personal', secretValue: 'mine' });
    await admin.delete('/api/v4/secrets/DB', at);
    expect(await strongroom.sql('select * from personal_secret where user_id = $1', [ada.userId])).toEqual([]);
  });
});
