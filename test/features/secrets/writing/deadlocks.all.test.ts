import { rounds } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const FOLDERS = ['/', '/a', '/b', '/a/c'];
const KEYS = ['A', 'B', 'C', 'D'];
const ENVIRONMENTS = ['dev', 'staging'];

/** Writers of all kinds took the locks of folders and secrets in different orders, waited for each other, and gave up with 500 or 504. */
describe('writers of all kinds in one project', () => {
  const strongroom = useSharedStrongroom({}, 'no deadlocks');

  test('wait for each other, and none gives up', async () => {
    const {
      admin: { patient: admin },
      project: { id: projectId },
    } = await strongroom.seed.project();
    let turn = 1;
    const next = <T>(list: readonly T[]): T => {
      turn = (turn * 48_271) % 2_147_483_647;
      return list[turn % list.length] as T;
    };
    const somewhere = () => ({ projectId, environment: next(ENVIRONMENTS), secretPath: next(FOLDERS) });
    const upsert = (at: object) => {
      const secrets = KEYS.map((secretKey) => ({
        secretKey,
        secretValue: `\${${next(ENVIRONMENTS)}.a.${next(KEYS)}}`,
      }));
      return admin.patch('/api/v4/secrets/batch', { ...at, mode: 'upsert', secrets });
    };
    for (const environment of ENVIRONMENTS) {
      for (const [path, name] of [
        ['/', 'a'],
        ['/', 'b'],
        ['/a', 'c'],
      ])
        await admin.post('/api/v2/folders', { projectId, environment, path, name });
      for (const secretPath of FOLDERS) await upsert({ projectId, environment, secretPath });
    }
    const [{ now: at }] = (await strongroom.sql<{ now: Date }>('select now()')) as [{ now: Date }];
    const changeFolder = async (change: (path: string, body: object) => Promise<unknown>) => {
      const environment = next(ENVIRONMENTS);
      const { body } = await admin.get(`/api/v2/folders?projectId=${projectId}&environment=${environment}&path=/`);
      const folder = next(body.folders as { id: string }[]);
      return folder === undefined
        ? null
        : change(`/api/v2/folders/${folder.id}`, { projectId, environment, path: '/' });
    };
    const move = async () => {
      const { body } = await admin.get(
        `/api/v4/secrets?projectId=${projectId}&environment=${next(ENVIRONMENTS)}&recursive=true`,
      );
      const secret = next(body.secrets as { id: string; environment: string; secretPath: string }[]);
      return secret === undefined
        ? null
        : admin.post('/api/v4/secrets/move', {
            projectId,
            sourceEnvironment: secret.environment,
            sourceSecretPath: secret.secretPath,
            destinationEnvironment: next(ENVIRONMENTS),
            destinationSecretPath: next(FOLDERS),
            secretIds: [secret.id],
            shouldOverwrite: true,
          });
    };
    const change = async (mutation: string, id: string | undefined, given: object = {}) => {
      const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
      const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`;
      const { body } = await admin.graphql(document, { input: { id: id ?? '', ...given } });
      return { status: (body.errors?.[0].extensions.statusCode ?? 200) as number };
    };
    const idOf = async (noun: 'secrets' | 'folders') => {
      const path = noun === 'secrets' ? 'v4/secrets' : 'v2/folders';
      const query = `projectId=${projectId}&environment=${next(ENVIRONMENTS)}&recursive=true`;
      const { body } = await admin.get(`/api/${path}?${query}`);
      return next(body[noun] as { id: string }[])?.id;
    };
    const writes = [
      async () => change('updateSecret', await idOf('secrets'), { newSecretKey: next(KEYS) }),
      async () => change('updateSecret', await idOf('secrets'), { secretValue: '${D}' }),
      async () => change('deleteSecret', await idOf('secrets')),
      async () => change('updateFolder', await idOf('folders'), { name: next(['a', 'b', 'z']) }),
      async () => change('deleteFolder', await idOf('folders'), { forceDelete: true }),
      () => upsert(somewhere()),
      () => admin.patch(`/api/v4/secrets/${next(KEYS)}`, { ...somewhere(), newSecretName: next(KEYS) }),
      () => admin.patch(`/api/v4/secrets/${next(KEYS)}`, { ...somewhere(), secretValue: '${D}' }),
      () => move(),
      () => admin.post(`/api/v4/secrets/${next(KEYS)}`, { ...somewhere(), secretValue: '${D}' }),
      () => admin.delete('/api/v4/secrets/batch', { ...somewhere(), secrets: [{ secretKey: next(KEYS) }] }),
      () => admin.post('/api/v1/secrets/restore', { ...somewhere(), recursive: next([true, false]), at }),
      () => admin.post('/api/v2/folders', { projectId, environment: next(ENVIRONMENTS), path: '/', name: 'b' }),
      () => changeFolder((path, body) => admin.patch(path, { ...body, name: next(['a', 'b', 'z']) })),
      () => changeFolder((path, body) => admin.delete(path, { ...body, forceDelete: true })),
    ];
    const before = await strongroom.deadlocks();
    const statuses = new Set<number>();
    const writer = async () => {
      for (let left = rounds(40); left > 0; left -= 1) {
        const reply = (await next(writes)()) as { status: number } | null;
        if (reply !== null) statuses.add(reply.status);
      }
    };
    await Promise.all(Array.from({ length: 12 }, writer));
    expect([...statuses].filter((status) => ![200, 404, 409, 422].includes(status))).toEqual([]);
    expect(statuses).toContain(200);
    expect(await strongroom.deadlocks()).toBe(before);
  });
});
