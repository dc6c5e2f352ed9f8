import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

const HISTORY = '/api/v1/secrets';

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape
type Json = any;

describe('rights to what secrets were', () => {
  const strongroom = useSharedStrongroom();

  /**
   * A secret of `/shut` that has come to `/open`, another that has gone from `/open` to `/shut`, and a caller with all rights
   * on secrets of `/open` only.
   */
  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    for (const name of ['open', 'shut']) await admin.post('/api/v2/folders', { ...at, name });
    const make = async (secretPath: string, secretKey: string) =>
      (await admin.post(`/api/v4/secrets/${secretKey}`, { ...at, secretPath, secretValue: `made in ${secretPath}` }))
        .body.secret.id as string;
    const move = (from: string, to: string, id: string) =>
      admin.post('/api/v4/secrets/move', {
        projectId: project.id,
        sourceEnvironment: 'dev',
        sourceSecretPath: from,
        destinationEnvironment: 'dev',
        destinationSecretPath: to,
        secretIds: [id],
      });
    const [came, went, stays] = [
      await make('/shut', 'CAME'),
      await make('/open', 'WENT'),
      await make('/open', 'STAYS'),
    ];
    const moment = (await strongroom.sql<{ now: Date }>('select now()'))[0]?.now.toISOString();
    await move('/shut', '/open', came);
    await move('/open', '/shut', went);
    await admin.patch('/api/v4/secrets/CAME', { ...at, secretPath: '/open', secretValue: 'written in /open' });
    await admin.patch('/api/v4/secrets/STAYS', { ...at, secretPath: '/open', secretValue: 'newer' });
    const role = await admin.post(`/api/v1/projects/${project.id}/roles`, {
      slug: 'opener',
      name: 'Opener',
      permissions: ['describeSecret', 'readValue', 'create', 'edit', 'delete'].map((action) => ({
        subject: 'secrets',
        action,
        conditions: { secretPath: { $eq: '/open' } },
      })),
    });
    expect(role.status).toBe(200);
    const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['opener'] });
    return { admin, caller, project, at, came, went, stays, moment, move };
  }

  const numbers = async (caller: Caller, id: string): Promise<number[]> =>
    (await caller.get(`${HISTORY}/${id}/versions`)).body.secretVersions.map(({ version }: Json) => version);

  test('of a secret that came from where the caller has none begin where it came', async () => {
    const { admin, caller, came } = await seeded();
    expect(await numbers(admin, came)).toEqual([3, 2, 1]);
    expect(await numbers(caller, came)).toEqual([3, 2]);
    const page = await caller.get(`${HISTORY}/${came}/versions?limit=1`);
    const rest = await caller.get(`${HISTORY}/${came}/versions?limit=5&cursor=${page.body.nextCursor}`);
    expect(rest.body.secretVersions.map(({ version }: Json) => version)).toEqual([2]);
    expect(await caller.get(`${HISTORY}/${came}/versions/1`)).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    expect(await caller.post(`${HISTORY}/${came}/restore`, { version: 1 })).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    const compared = await caller.graphql(
      'query ($id: ID!) { compareSecretVersions(secretId: $id, from: 1, to: 2) { differences } }',
      { id: came },
    );
    expect(compared).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    expect((await caller.get(`${HISTORY}/${came}/versions/2`)).body.secretVersion.secretValue).toBe('made in /shut');
  });

  test('of a secret that has gone to where the caller has none are none, whatever it was before', async () => {
    const { caller, went } = await seeded();
    for (const path of ['/versions', '/versions/1'])
      expect(await caller.get(`${HISTORY}/${went}${path}`)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await caller.post(`${HISTORY}/${went}/restore`, { version: 1 })).toBeError(404, 'SECRET_NOT_FOUND');
  });

  test('show the deleted secrets of the places where the caller has them', async () => {
    const { admin, caller, at } = await seeded();
    await admin.delete('/api/v4/secrets/WENT', { ...at, secretPath: '/shut' });
    await admin.delete('/api/v4/secrets/STAYS', { ...at, secretPath: '/open' });
    const deleted = async (who: Caller) =>
      (
        await who.get(`${HISTORY}/deleted?${new URLSearchParams({ ...at, recursive: 'true' })}`)
      ).body.deletedSecrets.map(({ secretKey }: Json) => secretKey);
    expect(await deleted(admin)).toEqual(['STAYS', 'WENT']);
    expect(await deleted(caller)).toEqual(['STAYS']);
  });

  test('let the caller restore what it may write, and nothing at all where one secret is not of it', async () => {
    const { admin, caller, at, went, stays, moment, move } = await seeded();
    const restored = await caller.post(`${HISTORY}/${stays}/restore`, { version: 1 });
    expect(restored.body.secret).toMatchObject({ version: 3, secretValue: 'made in /open' });
    await admin.patch('/api/v4/secrets/STAYS', { ...at, secretPath: '/open', secretValue: 'newest' });
    for (const dryRun of [true, false]) {
      const body = { ...at, at: moment, recursive: true, dryRun };
      expect(await caller.post(`${HISTORY}/restore`, body)).toBeError(403, 'PERMISSION_DENIED');
    }
    expect((await admin.get(`/api/v4/secrets/id/${stays}`)).body.secret.secretValue).toBe('newest');
    const own = () => caller.post(`${HISTORY}/restore`, { ...at, at: moment, secretPath: '/open' });
    // One that was there is now where the caller sees nothing, not even its versions.
    expect(await own()).toBeError(403, 'PERMISSION_DENIED');
    await move('/shut', '/open', went);
    expect((await own()).body).toMatchObject({
      created: [],
      changed: [{ secretPath: '/open', secretKey: 'STAYS' }],
      deleted: [{ secretPath: '/open', secretKey: 'CAME' }],
    });
  });

  test('tell the versions inside of secrets by the same rules', async () => {
    const { caller, at } = await seeded();
    const { secrets } = await caller.data(
      `query ($p: ID!) { secrets(projectId: $p, environment: "dev", secretPath: "/open") {
        nodes { secretKey versions(first: 5) { nodes { version secretPath } } } } }`,
      { p: at.projectId },
    );
    expect(secrets.nodes).toEqual([
      {
        secretKey: 'CAME',
        versions: {
          nodes: [
            { version: 3, secretPath: '/open' },
            { version: 2, secretPath: '/open' },
          ],
        },
      },
      {
        secretKey: 'STAYS',
        versions: {
          nodes: [
            { version: 2, secretPath: '/open' },
            { version: 1, secretPath: '/open' },
          ],
        },
      },
    ]);
  });
});
