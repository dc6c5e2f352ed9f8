import { useSharedStrongroom } from '../../../kit/strongroom.js';

/** Who may write values and not read them could write guesses, and ask of each whether it is the value of before. */
describe('a value that the caller may write and not read', () => {
  const strongroom = useSharedStrongroom();

  async function guessed(guess: string) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const permissions = [{ subject: 'secrets', action: ['describeSecret', 'create', 'edit', 'delete'] }];
    const role = { slug: 'writer', name: 'Writer', permissions };
    expect((await admin.post(`/api/v1/projects/${project.id}/roles`, role)).status).toBe(200);
    const writer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['writer'] });
    const { secret } = (await admin.post('/api/v4/secrets/PIN', { ...at, secretValue: '1234' })).body;
    const [{ now }] = (await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.003)')) as [
      { now: Date },
    ];
    await strongroom.sql('select pg_sleep(0.003)');
    expect((await writer.patch('/api/v4/secrets/PIN', { ...at, secretValue: guess })).status).toBe(200);
    return { admin, writer, at, secretId: secret.id as string, before: now.toISOString() };
  }

  test.each(['1234', '9999'])(
    'is not told by comparing versions, nor by what a restore would change: %s',
    async (guess) => {
      const { admin, writer, at, secretId, before } = await guessed(guess);
      const compare = 'query ($id: ID!) { compareSecretVersions(secretId: $id, from: 1, to: 2) { differences } }';
      expect((await writer.data(compare, { id: secretId })).compareSecretVersions.differences).toEqual([]);
      expect((await admin.data(compare, { id: secretId })).compareSecretVersions.differences).toEqual(
        guess === '1234' ? [] : ['VALUE'],
      );
      const restore = `mutation ($input: RestoreSecretsInput!) { restoreSecrets(input: $input) { changed { secretKey } } }`;
      const input = { ...at, at: before, dryRun: true };
      expect((await writer.data(restore, { input })).restoreSecrets.changed).toEqual([{ secretKey: 'PIN' }]);
    },
  );

  test.each(['1234', '9999'])('is not told by its age after a write or a restore: %s', async (guess) => {
    const { writer, admin, at, secretId } = await guessed(guess);
    const ages = `query ($id: ID!) { secret(id: $id) { updatedAt valueChangedAt version } }`;
    const aged = async (caller: typeof writer) => (await caller.data(ages, { id: secretId })).secret;
    const isNew = async () => {
      const { updatedAt, valueChangedAt } = await aged(writer);
      expect(valueChangedAt).toBe(updatedAt);
    };
    await isNew();
    for (const version of [1, 2]) {
      expect((await writer.post(`/api/v1/secrets/${secretId}/restore`, { version })).status).toBe(200);
      await isNew();
    }
    const byId = `mutation ($input: UpdateSecretsByIdInput!) { updateSecretsById(input: $input) { isDryRun } }`;
    await writer.data(byId, { input: { secrets: [{ id: secretId, secretValue: guess }] } });
    await isNew();
    const batch = { ...at, secrets: [{ secretKey: 'PIN', secretValue: guess }] };
    expect((await writer.patch('/api/v4/secrets/batch', batch)).status).toBe(200);
    await isNew();
    // What does not write the value, and who may read it, leave it as old as it is.
    const { valueChangedAt } = await aged(admin);
    await writer.patch('/api/v4/secrets/PIN', { ...at, secretComment: 'said' });
    await admin.patch('/api/v4/secrets/PIN', { ...at, secretValue: guess });
    expect(await aged(admin)).toMatchObject({ valueChangedAt, version: 8 });
  });
});
