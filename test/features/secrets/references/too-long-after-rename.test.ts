import { useSharedStrongroom } from '../../../kit/strongroom.js';

const KIB = 1024;
const LONG = 'x'.repeat(60);

/** A new name stands in a value as often as the old one did: a short value could become as long as one liked. */
describe('a new name that would make a value longer than 512 KiB', () => {
  const strongroom = useSharedStrongroom();

  /** Two values of 512 KiB each when what they name gets a name that is longer by `room` characters. */
  async function fullValues() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const { folder } = (await admin.post('/api/v2/folders', { ...at, name: 'a' })).body;
    await admin.post('/api/v4/secrets/KEY', { ...at, secretPath: '/a', secretValue: 'v' });
    const secretValue = '${dev.a.KEY}'.repeat(10_000);
    await admin.post('/api/v4/secrets/FULL', { ...at, environment: 'staging', secretValue });
    const full = async () =>
      (await admin.get(`/api/v4/secrets/FULL?projectId=${project.id}&environment=staging`)).body.secret;
    return { admin, project, at, folderId: folder.id as string, secretValue, full };
  }

  const reported = [
    {
      path: 'staging/FULL',
      code: 'TOO_BIG',
      message: 'must be at most 512 KiB of UTF-8 with the new names in its references',
    },
  ];

  test('is refused for a folder, an environment and a key, and all stays as it was', async () => {
    const { admin, project, at, folderId, secretValue, full } = await fullValues();
    const folder = await admin.patch(`/api/v2/folders/${folderId}`, { ...at, name: LONG });
    expect(folder).toBeError(409, 'REFERENCES_TOO_LONG');
    expect(folder.body.details).toEqual(reported);
    const [dev] = project.environments;
    const environment = await admin.patch(`/api/v1/projects/${project.id}/environments/${dev.id}`, { slug: LONG });
    expect(environment).toBeError(409, 'REFERENCES_TOO_LONG');
    const key = await admin.patch('/api/v4/secrets/KEY', { ...at, secretPath: '/a', newSecretName: LONG });
    expect(key).toBeError(409, 'REFERENCES_TOO_LONG');
    expect(await full()).toMatchObject({ version: 1, secretValue });
    expect((await admin.get(`/api/v2/folders/${folderId}`)).body.folder.name).toBe('a');
  });

  test('is refused also for a value of the same write', async () => {
    const { admin, at, secretValue } = await fullValues();
    const secrets = [
      { secretKey: 'KEY', newSecretName: LONG },
      { secretKey: 'OTHER', secretValue },
    ];
    const reply = await admin.patch('/api/v4/secrets/batch', { ...at, secretPath: '/a', mode: 'upsert', secrets });
    expect(reply).toBeError(409, 'REFERENCES_TOO_LONG');
  });

  test('is taken when the value is just short enough', async () => {
    const { admin, at, folderId, full } = await fullValues();
    const most = Math.floor((512 * KIB) / 10_000) - '${dev..KEY}'.length;
    const tooLong = await admin.patch(`/api/v2/folders/${folderId}`, { ...at, name: 'y'.repeat(most + 1) });
    expect(tooLong).toBeError(409, 'REFERENCES_TOO_LONG');
    expect((await admin.patch(`/api/v2/folders/${folderId}`, { ...at, name: 'y'.repeat(most) })).status).toBe(200);
    expect((await full()).secretValue).toBe(`\${dev.${'y'.repeat(most)}.KEY}`.repeat(10_000));
  });

  test('is taken where the caller may not read the value, which stays as it is', async () => {
    const { admin, project, at, folderId, secretValue, full } = await fullValues();
    const inDev = { environment: { $eq: 'dev' } };
    const permissions = [
      { subject: 'secrets', action: ['describeSecret', 'readValue', 'edit'], conditions: inDev },
      { subject: 'secret-folders', action: ['edit'], conditions: inDev },
    ];
    await admin.post(`/api/v1/projects/${project.id}/roles`, { slug: 'dev-only', name: 'Dev only', permissions });
    const limited = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['dev-only'] });
    const renamed = await limited.patch(`/api/v2/folders/${folderId}`, { ...at, name: LONG });
    expect([renamed.status, renamed.body.folder.name]).toEqual([200, LONG]);
    expect(await full()).toMatchObject({ version: 1, secretValue });
  });
});
