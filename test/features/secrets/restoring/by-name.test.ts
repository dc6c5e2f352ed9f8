import { mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const WRITES = ['create', 'edit', 'delete'];
const secrets = (action: readonly string[], conditions?: object): GivenRule => ({
  subject: 'secrets',
  action,
  ...(conditions === undefined ? {} : { conditions: { ...conditions } }),
});

/** Rules can look at what only secrets have. Whether a restore is theirs to allow shows when the secrets are known. */
describe('a restore of a folder by who may edit secrets of some names', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(...rules: readonly GivenRule[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    for (const key of ['APP_A', 'APP_GONE', 'OTHER'])
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretValue: 'old' }));
    const [row] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.003)');
    await strongroom.sql('select pg_sleep(0.003)');
    const change = async (key: string) =>
      mustSucceed(await admin.patch(`/api/v4/secrets/${key}`, { ...at, secretValue: 'new' }));
    await change('APP_A');
    mustSucceed(await admin.delete('/api/v4/secrets/APP_GONE', at));
    mustSucceed(await admin.post('/api/v4/secrets/APP_NEW', { ...at, secretValue: 'new' }));
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...rules);
    const restore = (dryRun = false) =>
      caller.post('/api/v1/secrets/restore', { ...at, at: row?.now.toISOString(), dryRun });
    return { change, restore };
  }

  test('changes what is theirs, and nothing at all where it would change another secret', async () => {
    const { change, restore } = await seeded(
      secrets(['describeSecret', 'readValue']),
      secrets(WRITES, { secretName: { $glob: 'APP_*' } }),
    );
    await change('OTHER');
    for (const dryRun of [true, false]) expect(await restore(dryRun)).toBeError(403, 'PERMISSION_DENIED');

    const own = await seeded(
      secrets(['describeSecret', 'readValue']),
      secrets(WRITES, { secretName: { $glob: 'APP_*' } }),
    );
    expect((await own.restore()).body).toMatchObject({
      created: [{ secretKey: 'APP_GONE' }],
      changed: [{ secretKey: 'APP_A' }],
      deleted: [{ secretKey: 'APP_NEW' }],
    });
  });

  test('is refused before any look for who may not edit at all, or knows of secrets only under conditions', async () => {
    const reader = await seeded(secrets(['describeSecret', 'readValue', 'create', 'delete']));
    expect(await reader.restore(true)).toBeError(403, 'PERMISSION_DENIED');
    const named = await seeded(
      secrets(['readValue']),
      secrets(['describeSecret'], { secretName: { $glob: '{APP_*,OTHER}' } }),
      secrets(WRITES, { secretName: { $glob: 'APP_*' } }),
    );
    expect(await named.restore(true)).toBeError(403, 'PERMISSION_DENIED');
  });
});
