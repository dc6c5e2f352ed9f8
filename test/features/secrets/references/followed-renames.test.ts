import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const LIMIT = 5;
const IN_DEV = { environment: 'dev' };

/** When a secret is renamed, the service rewrites the values that refer to it, also values that the caller may not see. */
describe('versions that the service writes when references follow a rename', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: LIMIT }));
    const at = (environment: string) => ({ projectId: project.id, environment });
    mustSucceed(await admin.post('/api/v4/secrets/BASE', { ...at('dev'), secretValue: 'b' }));
    const first = await admin.post('/api/v4/secrets/URL', { ...at('prod'), secretValue: '1 ${dev.BASE}' });
    const id = mustSucceed(first).body.secret.id as string;
    const write = async (text: string) =>
      mustSucceed(await admin.patch('/api/v4/secrets/URL', { ...at('prod'), secretValue: text }));
    const { caller: stranger } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'secrets',
      action: ['describeSecret', 'readValue', 'edit'],
      conditions: IN_DEV,
    });
    let name = 'BASE';
    const rename = async (newSecretName: string, who: Caller = stranger) => {
      mustSucceed(await who.patch(`/api/v4/secrets/${name}`, { ...at('dev'), newSecretName }));
      name = newSecretName;
    };
    /** Author and value of each kept version, oldest first. */
    const kept = async (): Promise<string[]> => {
      const { secretVersions } = mustSucceed(await admin.get(`/api/v1/secrets/${id}/versions?limit=100`)).body;
      return secretVersions
        .map((it: { actor: { actorType: string }; secretValue: string }) => `${it.actor.actorType} ${it.secretValue}`)
        .reverse();
    };
    const now = async (): Promise<string> => {
      const [row] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.002)');
      await strongroom.sql('select pg_sleep(0.002)');
      return String(row?.now.toISOString());
    };
    const restoreTo = async (moment: string, dryRun = false) =>
      admin.post('/api/v1/secrets/restore', { ...at('prod'), secretPath: '/', at: moment, dryRun });
    const value = async (): Promise<string> => {
      const query = new URLSearchParams({ ...at('prod'), expandSecretReferences: 'false' });
      return mustSucceed(await admin.get(`/api/v4/secrets/URL?${query}`)).body.secret.secretValue;
    };
    return { write, rename, kept, now, restoreTo, value, id };
  }

  const genuine = (...numbers: readonly number[]) => numbers.map((number) => `identity ${number} \${dev.BASE}`);

  test('do not count against pitVersionLimit: twelve renames by a stranger evict no version of a person', async () => {
    const { write, rename, kept } = await seeded();
    for (const number of [2, 3, 4, 5]) await write(`${number} \${dev.BASE}`);
    expect(await kept()).toEqual(genuine(1, 2, 3, 4, 5));
    for (let round = 1; round <= 12; round += 1) await rename(`BASE_${round}`);
    const rewritten = [8, 9, 10, 11, 12].map((round) => `platform 5 \${dev.BASE_${round}}`);
    expect(await kept()).toEqual([...genuine(1, 2, 3, 4, 5), ...rewritten]);
  });

  test('are bounded, and go with the version that they follow', async () => {
    const { write, rename, kept, id } = await seeded();
    for (let number = 2; number <= 8; number += 1) {
      for (const name of ['A', 'B', 'C']) await rename(`${name}_${number}`);
      await write(`${number} \${dev.C_${number}}`);
    }
    const versions = await kept();
    expect(versions.filter((version) => version.startsWith('identity'))).toEqual(
      [4, 5, 6, 7, 8].map((number) => `identity ${number} \${dev.C_${number}}`),
    );
    const rewritten = versions.filter((version) => version.startsWith('platform'));
    // The last one before each version by a person is always there.
    expect(rewritten).toEqual(
      expect.arrayContaining([4, 5, 6, 7].map((number) => `platform ${number} \${dev.C_${number + 1}}`)),
    );
    const [stored] = await strongroom.sql<{ count: number }>(
      'select count(*)::integer as count from secret_version where secret_id = $1',
      [id],
    );
    expect(stored?.count).toBeLessThanOrEqual(3 * LIMIT + 1);
  });

  test('keep every moment restorable, also one whose names are not kept any more', async () => {
    const { write, rename, now, restoreTo, value } = await seeded();
    const written = await now();
    await rename('ONE');
    const between = await now();
    await rename('TWO');
    const renamed = await now();
    await write('changed');
    mustSucceed(await restoreTo(renamed));
    expect(await value()).toBe('1 ${dev.TWO}');
    mustSucceed(await restoreTo(between));
    expect(await value()).toBe('1 ${dev.ONE}');
    mustSucceed(await restoreTo(written));
    expect(await value()).toBe('1 ${dev.BASE}');
  });

  test('leave a gap for a moment between them that is restored as the last version by a person', async () => {
    const { rename, now, restoreTo, value } = await seeded();
    await rename('ONE');
    const between = await now();
    for (let round = 1; round <= LIMIT + 2; round += 1) await rename(`BASE_${round}`);
    mustSucceed(await restoreTo(between));
    expect(await value()).toBe('1 ${dev.BASE}');
  });
});
