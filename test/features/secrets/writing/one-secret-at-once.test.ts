import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { withClient } from '../../../kit/tables.js';
import { untilWaiting } from '../../../kit/waiting.js';

const WRITES = 100;
const WRITERS = 4;
const PATH = '/api/v4/secrets/KEY';

interface Version {
  readonly version: number;
  readonly reminder_note: string | null;
  readonly tag_ids: readonly string[];
}

describe('one secret that many write at the same moment', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const {
      admin: { patient: admin },
      project,
    } = await strongroom.seed.project();
    await strongroom.sql('update project set pit_version_limit = 100 where id = $1', [project.id]);
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const tag = async (slug: string): Promise<string> =>
      mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug, color: 'red' })).body.tag.id;
    const tagIds = [await tag('one'), await tag('two')] as const;
    const { secret } = mustSucceed(
      await admin.post(PATH, { ...at, secretValue: 'v', tagIds: [tagIds[0]], secretReminderNote: 'first' }),
    ).body;
    const writer = async () =>
      (await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] })).patient;
    const writers = await Promise.all(Array.from({ length: WRITERS }, writer));
    const versionsOf = (id: string): Promise<Version[]> =>
      strongroom.sql<Version>('select * from secret_version where secret_id = $1 order by version', [id]);
    return { admin, project, at, tagIds, id: secret.id as string, writers, versionsOf };
  }

  test('has each of the writes, made to what the one before it left, and a record of each', async () => {
    const { project, at, tagIds, id, writers, versionsOf } = await seeded();

    const replies = await Promise.all(
      Array.from({ length: WRITES - 1 }, (_, n) => {
        const note = { secretReminderNote: `note ${n}` };
        const change = [{ secretValue: `value ${n}` }, note, { tagIds: n % 2 === 0 ? tagIds : [tagIds[1]] }][n % 3];
        return writers[n % WRITERS]?.patch(PATH, { ...at, ...change });
      }),
    );

    const written = replies.map((reply) => mustSucceed(reply as NonNullable<typeof reply>).body.secret);
    const numbers = written.map(({ version }) => version as number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: WRITES - 1 }, (_, n) => n + 2));
    const versions = await versionsOf(id);
    expect(versions.map(({ version }) => version)).toEqual([1, ...numbers]);
    for (const [n, { version }] of written.entries()) {
      const [before, after] = [versions[version - 2] as Version, versions[version - 1] as Version];
      expect(after.reminder_note).toBe(n % 3 === 1 ? `note ${n}` : before.reminder_note);
      const wanted = n % 2 === 0 ? [...tagIds] : [tagIds[1]];
      expect([...after.tag_ids].sort()).toEqual([...(n % 3 === 2 ? wanted : before.tag_ids)].sort());
    }
    const records = await strongroom.auditRows(`action = 'secret:update' and project_id = $1`, [project.id]);
    const states = records.map(({ facts }) => (facts.states as string[]).map((state) => state.split(':')[1]));
    expect(states.flat().map(Number)).toEqual(numbers);
  });

  test('is not lost where others rename, move and delete it meanwhile', async () => {
    const { admin, at, writers, versionsOf } = await seeded();
    mustSucceed(
      await admin.post('/api/v2/folders', { projectId: at.projectId, environment: 'dev', path: '/', name: 'a' }),
    );
    const create = () => admin.post(PATH, { ...at, secretValue: 'again' });
    const move = async (from: string, to: string) => {
      const { body } = await admin.get(`${PATH}?projectId=${at.projectId}&environment=dev&secretPath=${from}`);
      return admin.post('/api/v4/secrets/move', {
        ...{ projectId: at.projectId, sourceEnvironment: 'dev', sourceSecretPath: from },
        ...{ destinationEnvironment: 'dev', destinationSecretPath: to, secretIds: [body.secret?.id ?? at.projectId] },
      });
    };
    const others = [
      () => admin.patch(PATH, { ...at, newSecretName: 'OTHER' }),
      () => admin.patch('/api/v4/secrets/OTHER', { ...at, newSecretName: 'KEY' }),
      () => move('/', '/a'),
      () => move('/a', '/'),
      () => admin.delete(PATH, at),
      create,
    ];

    const replies = await Promise.all(
      Array.from({ length: WRITES }, async (_, n) => {
        const write = writers[n % WRITERS]?.patch(PATH, { ...at, secretValue: `value ${n}` });
        const other = n % 5 === 0 ? others[(n / 5) % others.length]?.() : undefined;
        return [await write, await other];
      }),
    );

    const statuses = new Set(replies.flat().flatMap((reply) => reply?.status ?? []));
    for (const status of statuses) expect([200, 400, 404, 409]).toContain(status);
    const ids = await strongroom.sql<{ id: string }>(
      'select distinct secret_id as id from secret_version where project_id = $1',
      [at.projectId],
    );
    for (const { id } of ids) {
      const versions = (await versionsOf(id)).map(({ version }) => version);
      expect(versions).toEqual(versions.map((_, n) => (versions[0] as number) + n));
    }
    const stored = await strongroom.sql('select id, version from secret where project_id = $1', [at.projectId]);
    for (const { id, version } of stored) expect((await versionsOf(id)).at(-1)?.version).toBe(version);
  });

  test('is read anew by a write that waited for it, with all that belongs to it', async () => {
    const { admin, at, id } = await seeded();

    const reply = await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query(`update secret set reminder_note = 'meanwhile' where id = $1`, [id]);
      await client.query('delete from secret_tag where secret_id = $1', [id]);
      const write = admin.patch(PATH, { ...at, secretValue: 'w' });
      await untilWaiting(strongroom, 1, write);
      await client.query('commit');
      return write;
    });

    expect(mustSucceed(reply).body.secret).toMatchObject({
      ...{ version: 2, secretValue: 'w', tags: [], secretReminderNote: 'meanwhile' },
    });
  });
});
