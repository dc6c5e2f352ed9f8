import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import type { Verdict } from '../../../kit/verify-audit.js';

const CONTENTS = ['value_sealed', 'comment_sealed', 'metadata', 'metadata_sealed', 'version'];

describe('a row that somebody set back in the database', () => {
  const strongroom = useSharedStrongroom();

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

  const listAs = (caller: Caller, { projectId }: { projectId: string }) =>
    caller.get(`/api/v4/secrets?projectId=${projectId}&environment=dev`);

  test.each([1, 2])(
    'to version %d of its history does not open, and the next write is refused with a code',
    async (version) => {
      const { admin, at, contents, id } = await seeded();
      await copyVersion(id, version);
      const list = await listAs(admin, at);
      expect(list.headers['x-unreadable-values']).toBe('3');
      expect(list.text).not.toMatch(/value (one|two)/);
      expect(await admin.get(`/api/v4/secrets/id/${id}`)).toBeError(503, 'SEALED_VALUE_INVALID');
      if (version === 2) return;
      for (const body of [{ secretComment: 'x' }, contents('three')])
        expect(await admin.patch('/api/v4/secrets/A', { ...at, ...body })).toBeError(503, 'SEALED_VALUE_INVALID');
      expect(await admin.delete('/api/v4/secrets/A', at)).toBeError(503, 'SEALED_VALUE_INVALID');
      expect((await admin.post(`/api/v1/secrets/${id}/restore`, { version: 2 })).status).not.toBe(500);
    },
  );

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

  test('as a whole opens, and is not written again until the version that it lost is gone, too', async () => {
    const { admin, at, id, first } = await seeded();
    await strongroom.sql('delete from secret where id = $1', [id]);
    await putBack(first);
    expect((await admin.get(`/api/v4/secrets/id/${id}`)).body.secret.secretValue).toBe('value one');
    expect(await rewrite(admin, at)).toBeError(503, 'SEALED_VALUE_INVALID');
    await dropVersion(id);
    mustSucceed(await rewrite(admin, at));
  });

  const rewrite = (admin: Caller, at: object) => admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'new' });
  const dropVersion = (id: string) =>
    strongroom.sql('delete from secret_version where secret_id = $1 and version = 2', [id]);

  describe('is named by verify-audit', () => {
    const contentsDiffer = (version: number) =>
      `its contents, name or location are not those of version ${version} in the trail`;

    /** Each sets back a row of a project of its own. @returns what is to be said of which id */
    const forgeries: Readonly<Record<string, () => Promise<Record<string, string[]>>>> = {
      'to the version before': async () => {
        const { id } = await seeded();
        await copyVersion(id, 1);
        return { [id]: [`secret ${id}: has version 1; the trail has 2`] };
      },
      'to what its history has of the same version': async () => {
        const { id } = await seeded();
        await copyVersion(id, 2);
        return { [id]: [`secret ${id}: ${contentsDiffer(2)}`] };
      },
      'when it is missing': async () => {
        const { id } = await seeded();
        await strongroom.sql('delete from secret where id = $1', [id]);
        return { [id]: [`secret ${id}: is missing; the trail has version 2 and no deletion`] };
      },
      'as a whole': async () => {
        const { id, first } = await seeded();
        await strongroom.sql('delete from secret where id = $1', [id]);
        await putBack(first);
        return { [id]: [`secret ${id}: has version 1; the trail has 2`] };
      },
      'also once it was written again as the version that it lost': async () => {
        const { admin, at, id, first } = await seeded();
        await strongroom.sql('delete from secret where id = $1', [id]);
        await putBack(first);
        await dropVersion(id);
        mustSucceed(await rewrite(admin, at));
        return { [id]: [`secret ${id}: ${contentsDiffer(2)}`] };
      },
      'after its deletion, as are two that changed their keys, and nothing else is': async () => {
        const { admin, at, id } = await seeded();
        const { secret: other } = (await admin.get(`/api/v4/secrets/B?projectId=${at.projectId}&environment=dev`)).body;
        const row = await rowOf(id);
        mustSucceed(await admin.delete('/api/v4/secrets/A', at));
        await putBack(row);
        await strongroom.sql(`update secret set key = case key when 'A' then 'B' else 'A' end where project_id = $1`, [
          at.projectId,
        ]);
        const untouched = await seeded();
        return {
          [id]: [`secret ${id}: has version 2; the trail has it deleted by version 3`],
          [other.id]: [`secret ${other.id}: ${contentsDiffer(1)}`],
          [untouched.id]: [],
        };
      },
      'when it is somebody’s own value in place of a shared one, and not while it is missing': async () => {
        const personal = async (row: 'kept' | 'missing' | 'put back'): Promise<string> => {
          const { admin, project, at } = await seeded();
          const ada = await strongroom.seed.user(admin, { project: project.id });
          const own = { ...at, type: 'personal' };
          const made = mustSucceed(await ada.post('/api/v4/secrets/A', { ...own, secretValue: 'mine' }));
          const { id } = made.body.secret;
          const [before] = await strongroom.sql('select * from personal_secret where id = $1', [id]);
          mustSucceed(await ada.patch('/api/v4/secrets/A', { ...own, secretValue: 'newer' }));
          if (row !== 'kept') await strongroom.sql('delete from personal_secret where id = $1', [id]);
          if (row === 'put back') await putBack(before as object, 'personal_secret');
          return id;
        };
        const [kept, missing, old] = [await personal('kept'), await personal('missing'), await personal('put back')];
        return { [kept]: [], [missing]: [], [old]: [`personal secret ${old}: has version 1; the trail has 2`] };
      },
    };

    const expected = new Map<string, Record<string, string[]>>();
    let verdict: Verdict;
    beforeAll(async () => {
      for (const [name, forge] of Object.entries(forgeries)) expected.set(name, await forge());
      verdict = await strongroom.verifyAudit();
    });

    test.each(Object.keys(forgeries))('%s', (name) => {
      for (const [id, lines] of Object.entries(expected.get(name) ?? {}))
        expect(verdict.differences.filter((line) => line.includes(id))).toEqual(lines);
    });

    test('which ends with 1, though the trail is intact', () => {
      expect([verdict.code, verdict.faults]).toEqual([1, []]);
    });
  });
});
