import { mustSucceed } from '../../../kit/caller.js';
import { useStrongroom } from '../../../kit/strongroom.js';

const CONTENTS = ['value_sealed', 'comment_sealed', 'metadata', 'metadata_sealed', 'version'];

describe('a row that somebody set back in the database', () => {
  const strongroom = useStrongroom();

  /** A secret with two versions, and one beside it that nobody touches. */
  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const contents = (version: string) => ({
      secretValue: `value ${version}`,
      secretComment: `comment ${version}`,
      secretMetadata: [{ key: 'k', value: `metadata ${version}`, isEncrypted: true }],
    });
    const { secret } = mustSucceed(await admin.post('/api/v4/secrets/A', { ...at, ...contents('one') })).body;
    const first = await rowOf(secret.id);
    mustSucceed(await admin.patch('/api/v4/secrets/A', { ...at, ...contents('two') }));
    mustSucceed(await admin.post('/api/v4/secrets/B', { ...at, secretValue: 'beside' }));
    return { admin, project, at, contents, id: secret.id as string, first };
  }

  const rowOf = async (id: string) => (await strongroom.sql('select * from secret where id = $1', [id]))[0] as object;

  const copyVersion = (id: string, version: number) =>
    strongroom.sql(
      `update secret s set ${CONTENTS.map((column) => `${column} = v.${column}`).join(', ')}
       from secret_version v where s.id = $1 and v.secret_id = s.id and v.version = $2`,
      [id, version],
    );

  /** Puts back a whole row as it was. */
  const putBack = (row: object, table = 'secret') =>
    strongroom.sql(`insert into ${table} select * from json_populate_record(null::${table}, $1)`, [
      JSON.stringify(row, (_, value) =>
        value?.type === 'Buffer' ? `\\x${Buffer.from(value.data).toString('hex')}` : value,
      ),
    ]);

  test('to a version of its history does not open, is named by verify-audit, and the next write is refused with a code', async () => {
    const { admin, at, contents, id } = await seeded();
    for (const version of [1, 2]) {
      await copyVersion(id, version);
      const list = await admin.get(`/api/v4/secrets?projectId=${at.projectId}&environment=dev`);
      expect(list.headers['x-unreadable-values']).toBe('3');
      expect(list.text).not.toMatch(/value (one|two)/);
      expect(await admin.get(`/api/v4/secrets/id/${id}`)).toBeError(503, 'SEALED_VALUE_INVALID');
      const { code, differences, faults } = await strongroom.verifyAudit();
      expect([code, faults]).toEqual([1, []]);
      expect(differences.filter((line) => line.includes(id))).toEqual([
        version === 1
          ? `secret ${id}: has version 1; the trail has 2`
          : `secret ${id}: its contents, name or location are not those of version 2 in the trail`,
      ]);
    }
    await copyVersion(id, 1);
    for (const body of [{ secretComment: 'x' }, contents('three')])
      expect(await admin.patch('/api/v4/secrets/A', { ...at, ...body })).toBeError(503, 'SEALED_VALUE_INVALID');
    expect(await admin.delete('/api/v4/secrets/A', at)).toBeError(503, 'SEALED_VALUE_INVALID');
    expect((await admin.post(`/api/v1/secrets/${id}/restore`, { version: 2 })).status).not.toBe(500);
  });

  test('of the history to what the secret is does not open either', async () => {
    const { admin, id } = await seeded();
    await strongroom.sql(
      `update secret_version v set value_sealed = s.value_sealed from secret s
       where v.secret_id = $1 and s.id = v.secret_id and v.version = s.version`,
      [id],
    );
    expect(await admin.get(`/api/v1/secrets/${id}/versions/2`)).toBeError(503, 'SEALED_VALUE_INVALID');
    expect((await admin.get(`/api/v4/secrets/id/${id}`)).body.secret.secretValue).toBe('value two');
  });

  test('as a whole is named by verify-audit, also once it was written again as the version that it lost', async () => {
    const { admin, at, id, first } = await seeded();
    const differences = async () =>
      (await strongroom.verifyAudit()).differences.filter((line) => line.includes(id)).map((line) => line.slice(45));
    expect(await differences()).toEqual([]);
    await strongroom.sql('delete from secret where id = $1', [id]);
    expect(await differences()).toEqual(['is missing; the trail has version 2 and no deletion']);
    await putBack(first);
    expect((await admin.get(`/api/v4/secrets/id/${id}`)).body.secret.secretValue).toBe('value one');
    expect(await differences()).toEqual(['has version 1; the trail has 2']);
    expect(await admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'new' })).toBeError(
      503,
      'SEALED_VALUE_INVALID',
    );
    await strongroom.sql('delete from secret_version where secret_id = $1 and version = 2', [id]);
    mustSucceed(await admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'new' }));
    expect(await differences()).toEqual(['its contents, name or location are not those of version 2 in the trail']);
  });

  test('after its deletion is named, as are two that changed their keys', async () => {
    const { admin, at, id } = await seeded();
    const { secret: other } = (await admin.get(`/api/v4/secrets/B?projectId=${at.projectId}&environment=dev`)).body;
    const row = await rowOf(id);
    mustSucceed(await admin.delete('/api/v4/secrets/A', at));
    await putBack(row);
    await strongroom.sql(`update secret set key = case key when 'A' then 'B' else 'A' end where project_id = $1`, [
      at.projectId,
    ]);
    const { differences } = await strongroom.verifyAudit();
    expect(differences).toContain(`secret ${id}: has version 2; the trail has it deleted by version 3`);
    expect(differences).toContain(
      `secret ${other.id}: its contents, name or location are not those of version 1 in the trail`,
    );
  });

  test('is named when it is somebody’s own value in place of a shared one', async () => {
    const { admin, project, at } = await seeded();
    const ada = await strongroom.seed.user(admin, { project: project.id });
    const own = mustSucceed(await ada.post('/api/v4/secrets/A', { ...at, type: 'personal', secretValue: 'mine' })).body;
    const { id } = own.secret;
    const [before] = await strongroom.sql('select * from personal_secret where id = $1', [id]);
    mustSucceed(await ada.patch('/api/v4/secrets/A', { ...at, type: 'personal', secretValue: 'newer' }));
    const named = async () => (await strongroom.verifyAudit()).differences.filter((line) => line.includes(id));
    expect(await named()).toEqual([]);
    await strongroom.sql('delete from personal_secret where id = $1', [id]);
    expect(await named()).toEqual([]);
    await putBack(before as object, 'personal_secret');
    expect(await named()).toEqual([`personal secret ${id}: has version 1; the trail has 2`]);
  });
});
