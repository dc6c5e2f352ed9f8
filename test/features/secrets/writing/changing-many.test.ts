import { useSharedStrongroom } from '../../../kit/strongroom.js';

describe('changing many secrets', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'old' });
    const values = async () => {
      const { secrets } = (await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`)).body;
      return Object.fromEntries(
        secrets.map(({ secretKey, secretValue }: Record<string, string>) => [secretKey, secretValue]),
      );
    };
    return { admin, project, at, values };
  }

  const changes = [
    { secretKey: 'B', secretValue: 'made' },
    { secretKey: 'A', secretValue: 'new' },
  ];

  test('fails for one that is not there, naming it, and changes nothing', async () => {
    const { admin, at, values } = await seeded();
    const refused = await admin.patch('/api/v4/secrets/batch', { ...at, secrets: changes });
    expect(refused).toBeError(404, 'SECRET_NOT_FOUND');
    expect(refused.body.details).toMatchObject([{ path: 'body.secrets[0].secretKey' }]);
    expect(await values()).toEqual({ A: 'old' });
  });

  test('makes it with upsert, in the order given, and passes it over with ignore', async () => {
    const { admin, at, values } = await seeded();
    const ignored = await admin.patch('/api/v4/secrets/batch', { ...at, mode: 'ignore', secrets: changes });
    expect(ignored.body.secrets.map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual(['A']);
    expect(await values()).toEqual({ A: 'new' });
    const upserted = await admin.patch('/api/v4/secrets/batch', { ...at, mode: 'upsert', secrets: changes });
    expect(upserted.body.secrets).toMatchObject([
      { secretKey: 'B', version: 1 },
      { secretKey: 'A', version: 3 },
    ]);
    expect(await values()).toEqual({ A: 'new', B: 'made' });
    const renaming = [{ secretKey: 'C', newSecretName: 'D' }];
    expect(await admin.patch('/api/v4/secrets/batch', { ...at, mode: 'upsert', secrets: renaming })).toBeError(
      404,
      'SECRET_NOT_FOUND',
    );
  });

  test('upserts of the same new secrets at one moment all succeed', async () => {
    const { admin, at, values } = await seeded();
    const secrets = Array.from({ length: 20 }, (_, index) => ({ secretKey: `K${index}`, secretValue: 'same' }));
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => admin.patient.patch('/api/v4/secrets/batch', { ...at, mode: 'upsert', secrets })),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(Object.keys(await values())).toHaveLength(21);
  });

  test('takes a number of statements that does not grow with the batch', async () => {
    const { admin, at } = await seeded();
    const secrets = Array.from({ length: 300 }, (_, index) => ({ secretKey: `K${index}`, secretValue: 'x' }));
    const upsert = (of: object[]) =>
      strongroom.statements(() => admin.patch('/api/v4/secrets/batch', { ...at, mode: 'upsert', secrets: of }));
    await upsert(secrets.slice(0, 1));
    const { count: few } = await upsert(secrets.slice(0, 2));
    const { count: many } = await upsert(secrets);
    expect(many).toBeLessThanOrEqual(few + 1);
  });

  test('a reminder names users of the project, and only these', async () => {
    const { admin, project, at } = await seeded();
    const ada = await strongroom.seed.user(admin, { project: project.id });
    const bob = await strongroom.seed.user(admin);
    const UPDATE = `mutation ($input: UpdateSecretByKeyInput!) { updateSecretByKey(input: $input) {
      secret { secretReminderNote secretReminderRepeatDays secretReminderRecipients } } }`;
    const reminder = { secretReminderNote: 'renew', secretReminderRepeatDays: 7 };
    const input = { ...at, secretKey: 'A', ...reminder, secretReminderRecipients: [ada.userId] };
    const { updateSecretByKey } = await admin.data(UPDATE, { input });
    expect(updateSecretByKey.secret).toEqual({ ...reminder, secretReminderRecipients: [ada.userId] });
    const refused = await admin.patch('/api/v4/secrets/A', {
      ...at,
      secretReminderRecipients: [ada.userId, bob.userId],
    });
    expect(refused).toBeError(404, 'USER_NOT_FOUND');
    expect(refused.body.details).toMatchObject([{ path: 'body.secretReminderRecipients[1]' }]);
  });

  test('what is stored of equal values is equal within the project alone', async () => {
    const { admin, project, at } = await seeded();
    const other = await strongroom.seed.projectOf(admin);
    const foreign = await strongroom.seed.project();
    const place = { environment: 'dev', secretValue: 'equal' };
    await admin.post('/api/v4/secrets/X', { ...at, ...place });
    await admin.post('/api/v4/secrets/Y', { ...at, ...place });
    await admin.post('/api/v4/secrets/EMPTY', { ...at, secretValue: '' });
    await admin.post('/api/v4/secrets/X', { ...place, projectId: other.id });
    await foreign.admin.post('/api/v4/secrets/X', { ...place, projectId: foreign.project.id });
    const digests = await strongroom.sql<{ key: string; digest: string | null }>(
      `select key, encode(value_digest, 'hex') as digest from secret where project_id = any($1::uuid[]) and key <> 'A' order by key`,
      [[project.id, other.id, foreign.project.id]],
    );
    expect(digests[0]).toEqual({ key: 'EMPTY', digest: null });
    expect(digests.map(({ key }) => key)).toEqual(['EMPTY', 'X', 'X', 'X', 'Y']);
    expect(new Set(digests.slice(1).map(({ digest }) => digest)).size).toBe(3);
  });
});
