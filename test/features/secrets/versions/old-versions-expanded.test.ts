import { useSharedStrongroom } from '../../../kit/strongroom.js';

const SECRETS = '/api/v4/secrets';

/** An old version was taken for what its secret is now, by the references in it and by those in what it names. */
describe('an old version with its references expanded', () => {
  const strongroom = useSharedStrongroom();

  async function place() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const put = (key: string, secretValue: string) => admin.post(`${SECRETS}/${key}`, { ...at, secretValue });
    const change = (key: string, body: object) => admin.patch(`${SECRETS}/${key}`, { ...at, ...body });
    const query = `query ($id: ID!, $key: String!, $version: Int) {
      secretByKey(projectId: $id, environment: "dev", secretKey: $key, version: $version, expandSecretReferences: true) {
        version secretValue referenceIssues { reference reason } } }`;
    const expanded = async (key: string, version?: number) =>
      (await admin.data(query, { id: project.id, key, version })).secretByKey;
    return { put, change, expanded };
  }

  test('keeps its own text when it names the key that the secret has now', async () => {
    const { put, change, expanded } = await place();
    await put('OLD', 'pre-${A}');
    await change('OLD', { newSecretName: 'A', secretValue: 'x' });
    expect(await expanded('A', 1)).toEqual({ version: 1, secretValue: 'pre-x', referenceIssues: [] });
    expect(await expanded('A')).toEqual({ version: 2, secretValue: 'x', referenceIssues: [] });
  });

  test('takes in what the secret is now where it named itself, directly or by another', async () => {
    const { put, change, expanded } = await place();
    await put('SELF', 's-${SELF}');
    await put('AA', 'a:${BB}');
    await put('BB', 'b:${AA}');
    await change('SELF', { secretValue: 'now' });
    await change('AA', { secretValue: 'now' });
    expect(await expanded('SELF', 1)).toEqual({ version: 1, secretValue: 's-now', referenceIssues: [] });
    expect(await expanded('AA', 1)).toEqual({ version: 1, secretValue: 'a:b:now', referenceIssues: [] });
  });

  test('tells of the circle that is there now', async () => {
    const { put, change, expanded } = await place();
    await put('AA', 'old ${BB}');
    await put('BB', 'b:${AA}');
    await change('AA', { secretValue: 'new ${BB}' });
    expect(await expanded('AA', 1)).toEqual({
      version: 1,
      secretValue: 'old b:${AA}',
      referenceIssues: [{ reference: '${AA}', reason: 'CYCLIC' }],
    });
  });
});
