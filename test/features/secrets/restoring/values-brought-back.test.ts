import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const secrets = (action: readonly string[], conditions?: object, inverted = false): GivenRule => ({
  subject: 'secrets',
  action,
  inverted,
  ...(conditions === undefined ? {} : { conditions: { ...conditions } }),
});
const WRITES = ['describeSecret', 'create', 'edit', 'delete'];
const EVERYTHING = [...WRITES, 'readValue'];
const HUSHED = [secrets(EVERYTHING), secrets(['readValue'], { secretTags: { $in: ['hush'] } }, true)];
const IN_OPEN = secrets(EVERYTHING, { secretPath: { $glob: '/open' } });

/** A restore brings back what was. Who may not read the value of the secret as it was last must not read it by that. */
describe('a value that was readable once', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(...rules: readonly GivenRule[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const path = `/api/v1/projects/${project.id}/tags`;
    const tag = mustSucceed(await admin.post(path, { slug: 'hush', color: 'red' })).body.tag.id as string;
    for (const name of ['open', 'shut']) mustSucceed(await admin.post('/api/v2/folders', { ...at, name }));
    const put = async (secretPath: string, key: string, who: Caller = admin, secretValue = 'sesame') =>
      mustSucceed(await who.post(`/api/v4/secrets/${key}`, { ...at, secretPath, secretValue })).body.secret
        .id as string;
    const change = async (secretPath: string, key: string, more: object) =>
      mustSucceed(await admin.patch(`/api/v4/secrets/${key}`, { ...at, secretPath, ...more }));
    const move = async (who: Caller, id: string, [from, to]: readonly [string, string], more: object = {}) =>
      mustSucceed(
        await who.post('/api/v4/secrets/move', {
          projectId: project.id,
          sourceEnvironment: 'dev',
          sourceSecretPath: from,
          destinationEnvironment: 'dev',
          destinationSecretPath: to,
          secretIds: [id],
          ...more,
        }),
      );
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...rules);
    const remove = async (secretPath: string, key: string, who: Caller = caller) =>
      mustSucceed(await who.delete(`/api/v4/secrets/${key}`, { ...at, secretPath }));
    const restore = (id: string, version = 1, who: Caller = caller) =>
      who.post(`/api/v1/secrets/${id}/restore`, { version });
    const restoreAll = (moment: string, secretPath: string, who: Caller = caller, dryRun = false) =>
      who.post('/api/v1/secrets/restore', { ...at, secretPath, at: moment, dryRun });
    const read = async (secretPath: string, key: string, who: Caller = caller) =>
      (await who.get(`/api/v4/secrets/${key}?${new URLSearchParams({ ...at, secretPath })}`)).body.secret?.secretValue;
    return { admin, caller, at, tag, put, change, move, remove, restore, restoreAll, read };
  }

  const moment = async (): Promise<string> => {
    const [row] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.003)');
    await strongroom.sql('select pg_sleep(0.003)');
    return String(row?.now.toISOString());
  };

  test('is not brought back by who deletes the secret first, alone or with its folder', async () => {
    const { admin, caller, at, tag, put, change, remove, restore, restoreAll } = await seeded(...HUSHED, {
      subject: 'secret-folders',
      action: ['read', 'create', 'delete'],
    });
    const [alone, inside] = [await put('/', 'HID'), await put('/open', 'HID')];
    const then = await moment();
    for (const path of ['/', '/open']) await change(path, 'HID', { tagIds: [tag] });
    expect(await restore(alone)).toBeError(403, 'PERMISSION_DENIED');
    await remove('/', 'HID');
    mustSucceed(await caller.delete('/api/v2/folders/open', { ...at, forceDelete: true }));
    for (const id of [alone, inside]) expect(await restore(id)).toBeError(403, 'PERMISSION_DENIED');
    for (const path of ['/', '/open']) expect(await restoreAll(then, path)).toBeError(403, 'PERMISSION_DENIED');
    // With the tag it is what it was, and as hidden as it was.
    expect(mustSucceed(await restore(alone, 2)).body.secret.secretValue).toBe('<hidden>');
    expect(mustSucceed(await restore(inside, 1, admin)).body.secret.secretValue).toBe('sesame');
  });

  test('is not brought back by who overwrites the secret with an own one', async () => {
    const { caller, tag, put, change, move, remove, restore } = await seeded(...HUSHED);
    const hidden = await put('/', 'HID');
    await change('/', 'HID', { tagIds: [tag] });
    await move(caller, await put('/open', 'HID', caller), ['/open', '/'], { shouldOverwrite: true });
    await remove('/', 'HID');
    expect(await restore(hidden)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('is not brought back under the name that showed it', async () => {
    const { put, change, remove, restore } = await seeded(
      secrets(WRITES),
      secrets(['readValue'], { secretName: { $glob: 'PUB_*' } }),
    );
    const hidden = await put('/', 'PUB_X');
    await change('/', 'PUB_X', { newSecretName: 'HID_X' });
    await remove('/', 'HID_X');
    expect(await restore(hidden)).toBeError(403, 'PERMISSION_DENIED');
    const shown = await put('/', 'PUB_Y');
    await remove('/', 'PUB_Y');
    expect(mustSucceed(await restore(shown)).body.secret.secretValue).toBe('sesame');
  });

  test('is not copied back from where the caller sees nothing of the secret, nor written over an own one', async () => {
    const { admin, caller, put, move, remove, restoreAll, read } = await seeded(IN_OPEN);
    const id = await put('/open', 'WENT');
    const then = await moment();
    await move(admin, id, ['/open', '/shut']);
    for (const dryRun of [true, false])
      expect(await restoreAll(then, '/open', caller, dryRun)).toBeError(403, 'PERMISSION_DENIED');
    // Whether an own value is the same is not told either.
    for (const guess of ['wrong', 'sesame']) {
      await put('/open', 'WENT', caller, guess);
      expect(await restoreAll(then, '/open')).toBeError(403, 'PERMISSION_DENIED');
      expect(await read('/open', 'WENT')).toBe(guess);
      await remove('/open', 'WENT');
    }
    mustSucceed(await restoreAll(then, '/open', admin));
    expect(await read('/open', 'WENT')).toBe('sesame');
  });

  test('is not copied back either once it was deleted elsewhere, or may be known of there only', async () => {
    const { admin, put, move, remove, restoreAll } = await seeded(
      secrets(WRITES),
      secrets(['readValue'], { secretPath: '/open' }),
    );
    const ids = [await put('/open', 'WENT'), await put('/open', 'GONE')];
    const then = await moment();
    for (const id of ids) await move(admin, id, ['/open', '/shut']);
    expect(await restoreAll(then, '/open')).toBeError(403, 'PERMISSION_DENIED');
    for (const key of ['WENT', 'GONE']) await remove('/shut', key, admin);
    expect(await restoreAll(then, '/open')).toBeError(403, 'PERMISSION_DENIED');
    expect(mustSucceed(await restoreAll(then, '/open', admin)).body.created).toHaveLength(2);
  });

  test('comes back for who might read it to the last, in a number of statements that does not grow', async () => {
    const { caller, put, move, remove, restoreAll, read } = await seeded(
      secrets(EVERYTHING, { secretPath: { $glob: '/{open,shut}' } }),
    );
    const round = async (keys: readonly string[]): Promise<number> => {
      const ids = await Promise.all(keys.map((key) => put('/open', key)));
      const then = await moment();
      const half = keys.length / 2;
      for (const key of keys.slice(0, half)) await remove('/open', key);
      for (const id of ids.slice(half)) await move(caller, id, ['/open', '/shut']);
      const { result, count } = await strongroom.statements(() => restoreAll(then, '/open'));
      expect(mustSucceed(result).body.created).toHaveLength(keys.length);
      for (const key of keys) expect(await read('/open', key)).toBe('sesame');
      return count;
    };
    const few = await round(['A', 'B']);
    expect(await round(['C', 'D', 'E', 'F', 'G', 'H'])).toBe(few);
  });
});
