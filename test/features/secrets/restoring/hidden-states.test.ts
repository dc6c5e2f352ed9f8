import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const ALL = ['describeSecret', 'readValue', 'create', 'edit', 'delete'];
const secrets = (action: readonly string[], conditions?: object): GivenRule => ({
  subject: 'secrets',
  action,
  ...(conditions === undefined ? {} : { conditions: { ...conditions } }),
});

/** A restore looks at everything in a folder, also at what the caller may not know of. */
describe('what a restore of a folder answers', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(...rules: readonly GivenRule[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const folder = async (name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, name })).body.folder.id as string;
    const put = async (secretPath: string, key: string) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretPath, secretValue: 'v' }));
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...rules);
    const restore = (who: Caller, moment: string, secretPath = '/') =>
      who.post('/api/v1/secrets/restore', { ...at, secretPath, recursive: true, at: moment, dryRun: true });
    return { admin, caller, at, folder, put, restore };
  }

  /** Whatever was written so far is before it, whatever comes is after it. */
  const moment = async (): Promise<string> => {
    const [row] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.003)');
    await strongroom.sql('select pg_sleep(0.003)');
    return String(row?.now.toISOString());
  };

  test('is the same refusal at every moment, and of every folder, for who has no rights there', async () => {
    const { admin, caller, at, folder, put, restore } = await seeded(secrets(ALL, { environment: 'staging' }));
    for (const name of ['hid', 'empty']) await folder(name);
    await put('/hid', 'HIDDEN');
    const before = await moment();
    mustSucceed(await admin.patch('/api/v4/secrets/HIDDEN', { ...at, secretPath: '/hid', secretValue: 'w' }));
    const after = await moment();
    const paths = ['/', '/hid', '/empty', '/none'];
    const replies = await Promise.all(paths.flatMap((path) => [before, after].map((it) => restore(caller, it, path))));
    for (const reply of replies) expect(reply).toBeError(403, 'PERMISSION_DENIED');
    expect(new Set(replies.map(({ body }) => JSON.stringify({ ...body, reqId: '' }))).size).toBe(1);
    expect((await restore(admin, before)).body.changed).toHaveLength(1);
  });

  test.each([
    ['some of what', [secrets(ALL), { ...secrets(ALL, { secretName: { $glob: 'HID*' } }), inverted: true }]],
    ['nothing that', [secrets(['edit', 'create', 'delete'])]],
  ])('is the same refusal at every moment for who may know of %s is or was there', async (_, rules) => {
    const { admin, caller, at, folder, put, restore } = await seeded(...rules);
    for (const name of ['written', 'deleted', 'known']) await folder(name);
    await put('/written', 'HID_1');
    await put('/deleted', 'HID_2');
    for (const path of ['/written', '/deleted', '/known']) await put(path, 'SEEN');
    const before = await moment();
    mustSucceed(await admin.patch('/api/v4/secrets/HID_1', { ...at, secretPath: '/written', secretValue: 'w' }));
    mustSucceed(await admin.delete('/api/v4/secrets/HID_2', { ...at, secretPath: '/deleted' }));
    const after = await moment();
    for (const path of ['/', '/written', '/deleted']) {
      for (const at of [before, after]) expect(await restore(caller, at, path)).toBeError(403, 'PERMISSION_DENIED');
    }
    const known = await restore(caller, before, '/known');
    expect(known.status).toBe(rules.length === 2 ? 200 : 403);
  });

  test('names of two secrets that claim one name only what the caller may know of', async () => {
    const rules = [secrets(['edit']), secrets(ALL, { secretPath: { $glob: '/{,one,two}' } })];
    const { admin, caller, at, folder, put, restore } = await seeded(...rules);
    const [, two] = [await folder('one'), await folder('two')];
    for (const path of ['/one', '/two']) await put(path, 'TWICE');
    const then = await moment();
    mustSucceed(await admin.delete('/api/v2/folders/one', { ...at, forceDelete: true }));
    mustSucceed(await admin.patch(`/api/v2/folders/${two}`, { ...at, name: 'one' }));
    for (const who of [admin, caller]) {
      const reply = await restore(who, then);
      expect(reply).toBeError(409, 'SECRET_KEY_TAKEN');
      expect(reply.body.details.map(({ path }: { path: string }) => path)).toEqual(['/one/TWICE']);
    }
    const { caller: blind } = await callerWithRules(
      strongroom,
      admin,
      at.projectId,
      secrets(['edit']),
      secrets(ALL, { secretPath: '/one' }),
    );
    expect((await restore(blind, then)).text).not.toContain('TWICE');
  });
});
