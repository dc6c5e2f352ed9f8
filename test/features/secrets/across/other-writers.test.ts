import type { Reply } from '../../../kit/caller.js';
import { rounds } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const PLACES = ['/', '/a'];
const KEYS = ['A', 'B', 'C'];

/** Batches hold folders and secrets of several projects, and so do others that write there in orders of their own. */
describe('batches across projects, with other writers beside them', () => {
  const strongroom = useSharedStrongroom({}, 'no deadlocks');

  test('wait for each other, and none gives up', async () => {
    // On a busy machine twelve in a row may wait longer than the service lets them: locks in a circle are counted.
    const admin = (await strongroom.seed.organization()).admin.patient;
    const projects = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
    let turn = 1;
    const random = (): number => {
      turn = (turn * 48_271) % 2_147_483_647;
      return turn;
    };
    const next = <T>(list: readonly T[]): T => list[random() % list.length] as T;
    const somewhere = () => ({ projectId: next(projects).id, environment: 'dev', secretPath: next(PLACES) });
    const value = () => next(['red', 'blue', '${A}', '${dev.a.B}']);
    const upsert = (at: object) =>
      admin.patch('/api/v4/secrets/batch', {
        ...at,
        mode: 'upsert',
        secrets: KEYS.map((secretKey) => ({ secretKey, secretValue: value() })),
      });
    const ids: string[] = [];
    for (const { id: projectId } of projects) {
      await admin.post('/api/v2/folders', { projectId, environment: 'dev', path: '/', name: 'a' });
      for (const secretPath of PLACES) {
        const { body } = await upsert({ projectId, environment: 'dev', secretPath });
        ids.push(...(body.secrets as { id: string }[]).map(({ id }) => id));
      }
    }
    const mutate = async (field: string, input: object) => {
      const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
      const document = `mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`;
      const { body }: Reply = await admin.graphql(document, { input });
      return { status: (body.errors?.[0].extensions.statusCode ?? 200) as number };
    };
    const some = () => [...new Set(Array.from({ length: 5 }, () => next(ids)))];
    const writes: (() => Promise<{ status: number }>)[] = [
      () => mutate('updateSecretsById', { secrets: some().map((id) => ({ id, secretValue: value() })) }),
      () => mutate('updateSecretsById', { secrets: some().map((id) => ({ id, newSecretKey: next(KEYS) })) }),
      () =>
        mutate('updateSecretsById', {
          secrets: some().map((id, at) => ({ id, newSecretKey: `K${random() % 50}_${at}`, secretValue: value() })),
        }),
      () => mutate('updateSecretsById', { secrets: some().map((id) => ({ id, secretComment: 'x' })), dryRun: true }),
      () => mutate('replaceValue', { likeSecretId: next(ids), secretValue: value() }),
      () => mutate('updateSecret', { id: next(ids), newSecretKey: next(KEYS) }),
      () => mutate('updateSecret', { id: next(ids), secretValue: value() }),
      () => upsert(somewhere()),
      () =>
        admin.post('/api/v4/secrets/move', {
          projectId: next(projects).id,
          sourceEnvironment: 'dev',
          sourceSecretPath: next(PLACES),
          destinationEnvironment: 'dev',
          destinationSecretPath: next(PLACES),
          secretIds: [next(ids)],
          shouldOverwrite: true,
        }),
    ];
    const before = await strongroom.deadlocks();
    const statuses = new Set<number>();
    const writer = async () => {
      for (let left = rounds(25); left > 0; left -= 1) statuses.add((await next(writes)()).status);
    };
    await Promise.all(Array.from({ length: 12 }, writer));
    expect([...statuses].filter((status) => ![200, 404, 409, 422].includes(status))).toEqual([]);
    expect(statuses).toContain(200);
    expect(await strongroom.deadlocks()).toBe(before);
  });
});
