import { useSharedStrongroom } from '../../../kit/strongroom.js';

/** Batches that make or move secrets name the keys that are taken; those that give other keys named none. */
describe('a batch of new keys of which some are taken', () => {
  const strongroom = useSharedStrongroom();

  async function batchOf(secrets: readonly object[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const made = ['A', 'B', 'C', 'D', 'E'].map((secretKey) => ({ secretKey, secretValue: secretKey }));
    await admin.post('/api/v4/secrets/batch', { ...at, secrets: made });
    const mutation = `mutation ($input: UpdateSecretsInput!) { updateSecrets(input: $input) { secrets { secretKey } } }`;
    return admin.graphql(mutation, { input: { ...at, secrets } });
  }

  test('names each, but not those that the batch itself frees', async () => {
    const reply = await batchOf([
      { secretKey: 'A', newSecretKey: 'D' },
      { secretKey: 'B', newSecretKey: 'A' },
      { secretKey: 'C', newSecretKey: 'E' },
    ]);
    expect(reply).toBeError(409, 'SECRET_KEY_TAKEN');
    expect(reply.body.errors[0].extensions.details).toEqual(
      [0, 2].map((index) => ({
        path: `input.secrets[${index}].newSecretKey`,
        code: 'SECRET_KEY_TAKEN',
        message: 'already exists in the folder',
      })),
    );
  });

  test('is carried out when it frees them all', async () => {
    const reply = await batchOf([
      { secretKey: 'A', newSecretKey: 'B' },
      { secretKey: 'B', newSecretKey: 'C' },
      { secretKey: 'C', newSecretKey: 'A' },
      { secretKey: 'D', newSecretKey: 'D' },
    ]);
    expect(reply.body.data.updateSecrets.secrets.map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual([
      'B',
      'C',
      'A',
      'D',
    ]);
  });
});
