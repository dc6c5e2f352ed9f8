import { type Caller, type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';
import { details, exported, list, type Place, seededPlace, values } from './files.js';

describe('files of secrets', () => {
  const strongroom = useSharedStrongroom();
  const seeded = () => seededPlace(strongroom);

  test('need the right to make secrets on the way in, and to know of some on the way out', async () => {
    const { admin, project, at } = await seeded();
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'a' });
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    const powerless = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const stranger = await strongroom.seed.caller(admin);
    for (const dryRun of [true, false]) {
      const given = { ...at, format: 'json', content: '{"A":"a"}', mode: 'overwrite', dryRun };
      expect(await viewer.post('/api/v4/secrets/import', given)).toBeError(403, 'PERMISSION_DENIED');
      expect(await stranger.post('/api/v4/secrets/import', given)).toBeError(404, 'PROJECT_NOT_FOUND');
    }
    expect((await exported(viewer, at, 'json')).body.content).toBe('{\n  "A": "a"\n}\n');
    expect(await exported(powerless, at, 'json')).toBeError(403, 'PERMISSION_DENIED');
    expect(await exported(stranger, at, 'json')).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await exported(viewer, { ...at, environment: 'none' }, 'json')).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await exported(viewer, { ...at, secretPath: '/none' }, 'json')).toBeError(404, 'FOLDER_NOT_FOUND');
  });

  describe('for who may do some things to some secrets', () => {
    /** A member whose only role has these permissions on secrets: `[actions, conditions]`. */
    async function memberWith(
      admin: Caller,
      project: string,
      ...permissions: [action: string[], conditions?: object][]
    ) {
      const made = await admin.post(`/api/v1/projects/${project}/roles`, {
        slug: 'partly',
        name: 'Partly',
        permissions: permissions.map(([action, conditions]) => ({ subject: 'secrets', action, conditions })),
      });
      expect(made.status).toBe(200);
      return strongroom.seed.caller(admin, { project, projectRoles: ['partly'] });
    }

    const content = '{\n"A": "a",\n"B": "b",\n"C": "c"\n}';
    const imported = (caller: Caller, at: Place, mode: string, dryRun: boolean) =>
      caller.post('/api/v4/secrets/import', { ...at, format: 'json', content, mode, dryRun });
    const outcomes = ({ body }: Reply) => body.secrets.map(({ outcome }: Record<string, string>) => outcome);
    const present = {
      secrets: [
        { secretKey: 'A', secretValue: 'a' },
        { secretKey: 'B', secretValue: 'old' },
      ],
    };

    test('an import does not tell who may not read a value that it is the same', async () => {
      const { admin, project, at } = await seeded();
      await admin.post('/api/v4/secrets/batch', { ...at, ...present });
      const blind = await memberWith(admin, project.id, [['describeSecret', 'create', 'edit']]);
      for (const dryRun of [true, false])
        expect(outcomes(await imported(blind, at, 'overwrite', dryRun))).toEqual(['changed', 'changed', 'created']);
      expect((await list(admin, at)).A).toMatchObject({ value: 'a', version: 2 });
      const reported = await exported(blind, at, 'json');
      expect(reported.body).toEqual({ content: '{}\n', count: 0, omitted: 3 });
    });

    test('rights are asked for each secret of the file, whatever becomes of it, dry or not', async () => {
      const { admin, project, at } = await seeded();
      await admin.post('/api/v4/secrets/batch', { ...at, ...present });
      const some = await memberWith(
        admin,
        project.id,
        [['describeSecret', 'readValue']],
        [['create', 'edit'], { secretName: { $in: ['B', 'C'] } }],
      );
      for (const mode of ['create-only', 'overwrite', 'skip-existing'])
        for (const dryRun of [true, false])
          expect(await imported(some, at, mode, dryRun)).toBeError(403, 'PERMISSION_DENIED');
      expect(await values(admin, at)).toEqual({ A: 'a', B: 'old' });
    });

    test('a secret that the caller may not know of is in the way all the same', async () => {
      const { admin, project, at } = await seeded();
      await admin.post('/api/v4/secrets/batch', { ...at, ...present });
      const some = await memberWith(
        admin,
        project.id,
        [['create', 'edit']],
        [['describeSecret', 'readValue'], { secretName: { $in: ['A', 'C'] } }],
      );
      for (const dryRun of [true, false]) {
        const refused = await imported(some, at, 'overwrite', dryRun);
        expect(refused).toBeError(409, 'SECRET_KEY_TAKEN');
        expect(details(refused)).toEqual(['body.content[3].entry[2] SECRET_KEY_TAKEN']);
        expect(outcomes(await imported(some, at, 'skip-existing', dryRun))).toEqual(['skipped', 'skipped', 'created']);
      }
      expect((await exported(some, at, 'json')).body).toEqual({
        content: '{\n  "A": "a",\n  "C": "c"\n}\n',
        count: 2,
        omitted: 0,
      });
    });

    test('an export counts what may not be read, and puts nothing in its place', async () => {
      const { admin, project, at } = await seeded();
      await admin.post('/api/v2/folders', { projectId: at.projectId, environment: 'dev', name: 'base' });
      await admin.post('/api/v4/secrets/batch', { ...at, secretPath: '/base', ...present });
      await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'own' });
      const source = { import: { environment: 'dev', path: '/base' } };
      await admin.post('/api/v2/secret-imports', { projectId: at.projectId, environment: 'dev', path: '/', ...source });
      const some = await memberWith(admin, project.id, [['describeSecret']], [['readValue'], { secretPath: '/base' }]);
      const reply = await exported(some, at, 'json', { include_imports: 'true' });
      expect(reply.body).toEqual({ content: '{\n  "B": "old"\n}\n', count: 1, omitted: 1 });
    });
  });
});
