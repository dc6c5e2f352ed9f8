import { useSharedStrongroom } from '../../../kit/strongroom.js';

const SECRETS = '/api/v4/secrets';

/** What a write wrote named the old key, and was written once more for the new one: the reply told of a version that was past. */
describe('a write that gives a secret another key and writes values that name it', () => {
  const strongroom = useSharedStrongroom();

  async function place() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const put = async (secretKey: string, secretValue: string) =>
      (await admin.post(`${SECRETS}/${secretKey}`, { ...at, secretValue })).body.secret;
    const get = async (key: string) =>
      (await admin.get(`${SECRETS}/${key}?projectId=${project.id}&environment=dev`)).body.secret;
    const batch = (body: object) => admin.patch(`${SECRETS}/batch`, { ...at, ...body });
    return { admin, at, put, get, batch };
  }

  test('writes each once, and replies what is stored', async () => {
    const { put, get, batch } = await place();
    await put('K1', 'v');
    await put('Z', 'old');
    await put('BYSTANDER', 'by ${K1}');
    const secrets = [
      { secretKey: 'K1', newSecretName: 'K2' },
      { secretKey: 'Z', secretValue: '${K1} ${dev.K1}' },
      { secretKey: 'NEW', secretValue: 'new ${K1}' },
    ];
    const { body } = await batch({ mode: 'upsert', secrets });
    expect(body.secrets).toMatchObject([
      { secretKey: 'K2', version: 2, secretValue: 'v' },
      { secretKey: 'Z', version: 2, secretValue: '${K2} ${dev.K2}', actor: { actorType: 'identity' } },
      { secretKey: 'NEW', version: 1, secretValue: 'new ${K2}', actor: { actorType: 'identity' } },
    ]);
    for (const written of body.secrets) expect(await get(written.secretKey)).toEqual(written);
    expect(await get('BYSTANDER')).toMatchObject({
      version: 2,
      secretValue: 'by ${K2}',
      actor: { actorType: 'platform' },
    });
  });

  test('writes a secret that names itself once', async () => {
    const { admin, at, put, get } = await place();
    await put('SELF', 's-${SELF}');
    const { secret } = (await admin.patch(`${SECRETS}/SELF`, { ...at, newSecretName: 'SELF2' })).body;
    expect(secret).toMatchObject({ secretKey: 'SELF2', version: 2, secretValue: 's-${SELF2}' });
    expect(await get('SELF2')).toEqual(secret);
  });

  test('carries both names when two secrets that name each other swap keys', async () => {
    const { put, get, batch } = await place();
    await put('A', 'a ${B}');
    await put('B', 'b ${A}');
    const secrets = [
      { secretKey: 'A', newSecretName: 'B' },
      { secretKey: 'B', newSecretName: 'A' },
    ];
    const { body } = await batch({ secrets });
    expect(body.secrets).toMatchObject([
      { secretKey: 'B', version: 2, secretValue: 'a ${A}' },
      { secretKey: 'A', version: 2, secretValue: 'b ${B}' },
    ]);
    for (const written of body.secrets) expect(await get(written.secretKey)).toEqual(written);
  });

  test('is refused when a value of its own names what gets a key that references cannot name', async () => {
    const { admin, at, put, get, batch } = await place();
    await put('SELF', 's-${SELF}');
    const renamed = await admin.patch(`${SECRETS}/SELF`, { ...at, newSecretName: 'a.b' });
    expect(renamed).toBeError(409, 'SECRET_REFERENCED');
    await put('FREE', 'v');
    const secrets = [
      { secretKey: 'SELF', newSecretName: 'SELF2' },
      { secretKey: 'FREE', newSecretName: 'a.b' },
    ];
    expect((await batch({ secrets })).status).toBe(200);
    expect(await get('SELF2')).toMatchObject({ version: 2, secretValue: 's-${SELF2}' });
  });

  test('restores a version as it was, and once', async () => {
    const { admin, at, put, get } = await place();
    const { _id } = await put('A', 'was ${B}');
    await put('OTHER', 'o ${A}');
    await admin.patch(`${SECRETS}/A`, { ...at, newSecretName: 'B', secretValue: 'now' });
    const { body } = await admin.post(`/api/v1/secrets/${_id}/restore`, { version: 1 });
    expect(body.secret).toMatchObject({ secretKey: 'A', version: 3, secretValue: 'was ${B}' });
    expect(await get('A')).toMatchObject({ version: 3, secretValue: 'was ${B}' });
    expect(await get('OTHER')).toMatchObject({ version: 3, secretValue: 'o ${A}' });
  });
});
