import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import type { SeededProject } from '../../../kit/seed.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

/** When a secret was written is nothing for callers who may not know of it. */
describe('writes of secrets that the caller may not know of', () => {
  const strongroom = useSharedStrongroom();
  let admin: Caller;
  let project: SeededProject;

  beforeEach(async () => {
    ({ admin, project } = await strongroom.seed.project());
  });

  const makeFolders = async (...names: string[]): Promise<void> => {
    for (const name of names)
      mustSucceed(await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name }));
  };
  const put = async (secretPath: string, secretKey: string): Promise<void> => {
    const at = { projectId: project.id, environment: 'dev', secretPath };
    mustSucceed(await admin.post(`/api/v4/secrets/${secretKey}`, { ...at, secretValue: 'x' }));
  };
  const change = async (secretPath: string, secretKey: string, fields: object): Promise<void> => {
    const at = { projectId: project.id, environment: 'dev', secretPath };
    mustSucceed(await admin.patch(`/api/v4/secrets/${secretKey}`, { ...at, ...fields }));
  };
  const moment = async (): Promise<string> => {
    const sql = 'select clock_timestamp() as now from pg_sleep(0.003)';
    const [{ now }] = (await strongroom.sql<{ now: Date }>(sql)) as [{ now: Date }];
    await strongroom.sql(sql);
    return now.toISOString();
  };
  const withRules = async (...rules: GivenRule[]): Promise<Caller> =>
    (await callerWithRules(strongroom, admin, project.id, { subject: 'secret-folders', action: 'read' }, ...rules))
      .caller;
  const describes = (conditions?: GivenRule['conditions'], inverted = false): GivenRule => ({
    subject: 'secrets',
    action: 'describeSecret',
    ...(inverted ? { inverted } : {}),
    ...(conditions === undefined ? {} : { conditions }),
  });

  const FOLDERS = `query ($projectId: ID!, $since: DateTime, $first: Int, $after: String) {
    folders(projectId: $projectId, environment: "dev", lastSecretModified: $since, first: $first, after: $after) {
      nodes { path } pageInfo { hasNextPage endCursor } } }`;
  const ask = async (caller: Caller, variables: object) =>
    (await caller.data(FOLDERS, { projectId: project.id, ...variables })).folders;
  const paths = async (caller: Caller, since: string | null = '2020-01-01T00:00:00Z'): Promise<string[]> =>
    (await ask(caller, { since })).nodes.map(({ path }: { path: string }) => path);

  test('leave a folder out of those that were written since, and its name in the whole list', async () => {
    await makeFolders('a', 'b', 'c', 'empty');
    await put('/a', 'HIDDEN');
    await put('/b', 'OPEN');
    await put('/c', 'HIDDEN');
    const since = await moment();
    await put('/c', 'OPEN');
    await change('/b', 'OPEN', { secretValue: 'y' });
    await change('/a', 'HIDDEN', { secretValue: 'y' });

    const some = await withRules(describes({ secretName: 'OPEN' }));
    const none = await withRules();
    const all = await withRules(describes());
    expect(await paths(some, null)).toEqual(['/a', '/b', '/c', '/empty']);
    expect(await paths(some)).toEqual(['/b', '/c']);
    expect(await paths(some, since)).toEqual(['/b', '/c']);
    expect(await paths(some, await moment())).toEqual([]);
    expect(await paths(none)).toEqual([]);
    for (const caller of [all, admin]) expect(await paths(caller, since)).toEqual(['/a', '/b', '/c']);
  });

  test('do not shorten its pages', async () => {
    await makeFolders('a', 'b', 'c', 'd');
    for (const path of ['/a', '/c']) await put(path, 'HIDDEN');
    for (const path of ['/b', '/d']) await put(path, 'OPEN');
    const caller = await withRules(describes({ secretName: 'OPEN' }));
    const since = '2020-01-01T00:00:00Z';
    const one = await ask(caller, { since, first: 1 });
    expect([one.nodes, one.pageInfo.hasNextPage]).toEqual([[{ path: '/b' }], true]);
    const two = await ask(caller, { since, first: 1, after: one.pageInfo.endCursor });
    expect([two.nodes, two.pageInfo.hasNextPage]).toEqual([[{ path: '/d' }], false]);
  });

  test('count neither by what the secret was before nor by what it is now alone', async () => {
    await makeFolders('was', 'is', 'both');
    await put('/was', 'OPEN');
    await put('/is', 'HIDDEN');
    await put('/both', 'OPEN');
    await change('/was', 'OPEN', { newSecretName: 'HIDDEN' });
    await change('/is', 'HIDDEN', { newSecretName: 'OPEN' });
    const afterwards = await moment();
    await change('/is', 'OPEN', { secretValue: 'y' });
    const at = { projectId: project.id, environment: 'dev', secretPath: '/both' };
    mustSucceed(await admin.delete('/api/v4/secrets/OPEN', at));

    const caller = await withRules(describes({ secretName: 'OPEN' }));
    // What was deleted counts as long as the caller may know of it where it was.
    expect(await paths(caller)).toEqual(['/both', '/is']);
    expect(await paths(caller, afterwards)).toEqual(['/both', '/is']);
    const other = await withRules(describes(), describes({ secretName: 'OPEN' }, true));
    expect(await paths(other)).toEqual(['/was']);
  });
});
