import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

describe('updating a project', () => {
  test('changes what is given, keeps what is absent, and clears what is null', async () => {
    const { admin, project } = await strongroom.seed.project();
    const changes = {
      name: 'New name',
      description: 'words',
      slug: 'new-slug',
      autoCapitalization: true,
      hasDeleteProtection: true,
      secretSharing: false,
      showSnapshotsLegacy: true,
      enforceEncryptedSecretManagerSecretMetadata: true,
      pitVersionLimit: 100,
      secretDetectionIgnoreValues: ['hush', 'hush again'],
    };
    const all = await admin.patch(`/api/v1/projects/${project.id}`, changes);
    expect(all.body.project).toMatchObject(changes);
    const some = await admin.patch(`/api/v1/projects/${project.id}`, {
      description: null,
      secretDetectionIgnoreValues: null,
    });
    expect(some.body.project).toMatchObject({ ...changes, description: null, secretDetectionIgnoreValues: null });
    expect((await admin.get(`/api/v1/projects/${project.id}`)).body).toEqual(some.body);
  });

  test('does the same by its slug at the older path, and is refused as there', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v2/workspace/${project.slug}`;
    const changed = await admin.patch(path, { name: 'New name', hasDeleteProtection: true });
    expect(changed.body).toMatchObject({ id: project.id, name: 'New name', hasDeleteProtection: true });
    expect((await admin.get(path)).body).toEqual(changed.body);
    expect(await admin.patch(path, { slug: 'A' })).toBeError(422, 'VALIDATION_FAILED');
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    expect(await viewer.patch(path, { name: 'Mine' })).toBeError(403, 'PERMISSION_DENIED');
    const stranger = await strongroom.seed.organization();
    expect(await stranger.admin.patch(path, { name: 'Mine' })).toBeError(404, 'PROJECT_NOT_FOUND');
    mustSucceed(await admin.patch(path, { slug: 'by-another-slug' }));
    expect(await admin.patch(path, { name: 'Mine' })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('is refused with every fault at once, and for a slug that is taken', async () => {
    const { admin, project } = await strongroom.seed.project();
    const faulty = {
      name: null,
      slug: 'A',
      pitVersionLimit: 101,
      hasDeleteProtection: 'no',
      secretDetectionIgnoreValues: [''],
      auto_capitalization: true,
    };
    const reply = await admin.patch(`/api/v1/projects/${project.id}`, faulty);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details).toHaveLength(6);
    await admin.post('/api/v2/workspace', { projectName: 'x', slug: 'taken' });
    const taken = await admin.patch(`/api/v1/projects/${project.id}`, { slug: 'taken', name: 'y' });
    expect(taken).toBeError(409, 'PROJECT_SLUG_TAKEN');
    expect((await admin.get(`/api/v1/projects/${project.id}`)).body.project.name).toBe(project.name);
  });

  test('needs the right to edit settings, and the values that leak detection passes over need an admin', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    await admin.patch(path, { secretDetectionIgnoreValues: ['hush'] });
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    expect((await developer.patch(path, { name: 'Mine' })).body.project.secretDetectionIgnoreValues).toEqual(['hush']);
    expect(await developer.patch(path, { secretDetectionIgnoreValues: null })).toBeError(403, 'PERMISSION_DENIED');
    expect(await developer.patch(path, { secretDetectionIgnoreValues: [] })).toBeError(403, 'PERMISSION_DENIED');
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    expect(await viewer.patch(path, { name: 'Mine' })).toBeError(403, 'PERMISSION_DENIED');
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    expect((await nobody.get(path)).body.project.secretDetectionIgnoreValues).toBeNull();
    const { admin: stranger } = await strongroom.seed.organization();
    expect(await stranger.patch(path, { name: 'Mine' })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('seals the values that leak detection passes over; two swapped ones do not open, and the list goes on', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = (await admin.post('/api/v2/workspace', { projectName: 'other' })).body.project;
    for (const [id, value] of [
      [project.id, 'hush-one'],
      [other.id, 'hush-two'],
    ]) {
      await admin.patch(`/api/v1/projects/${id}`, { secretDetectionIgnoreValues: [value] });
    }
    await strongroom.sql(
      `update project p set secret_detection_ignore_values_sealed = q.secret_detection_ignore_values_sealed
       from project q where p.id in ($1, $2) and q.id in ($1, $2) and p.id <> q.id`,
      [project.id, other.id],
    );
    expect(await admin.get(`/api/v1/projects/${project.id}`)).toBeError(503, 'SEALED_VALUE_INVALID');
    const list = await admin.get('/api/v1/projects');
    expect(list.status).toBe(200);
    expect(list.body.projects).toHaveLength(2);
    expect(list.text).not.toContain('hush');
    expect((await admin.delete(`/api/v1/projects/${project.id}`)).status).toBe(200);
  });

  test('seals them for one writing: those of an earlier one do not open, after they were cleared too', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    const write = async (values: string[] | null): Promise<unknown> => {
      expect((await admin.patch(path, { secretDetectionIgnoreValues: values })).status).toBe(200);
      const [row] = await strongroom.sql<{ sealed: Buffer }>(
        'select secret_detection_ignore_values_sealed as sealed from project where id = $1',
        [project.id],
      );
      return row?.sealed;
    };
    const sealed = await write(['hush-one']);
    const restore = () =>
      strongroom.sql('update project set secret_detection_ignore_values_sealed = $2 where id = $1', [
        project.id,
        sealed,
      ]);
    for (const next of [['hush-two'], null]) {
      await write(next);
      await restore();
      expect(await admin.get(path)).toBeError(503, 'SEALED_VALUE_INVALID');
    }
    await write(['hush-three']);
    expect((await admin.get(path)).body.project.secretDetectionIgnoreValues).toEqual(['hush-three']);
  });

  test('by many who seal values at the same moment leaves those of one that was told so', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    const given = Array.from({ length: 8 }, (_, index) => [`hush-${index}`]);
    const replies = await Promise.all(
      given.map((values) => admin.patch(path, { secretDetectionIgnoreValues: values })),
    );
    const done = replies.filter(({ status }) => status === 200);
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      expect(reply).toBeError(409, 'CONCURRENT_CHANGE');
    }
    const { project: now } = (await admin.get(path)).body;
    expect(done.map(({ body }) => body.project.secretDetectionIgnoreValues)).toContainEqual(
      now.secretDetectionIgnoreValues,
    );
  });
});
