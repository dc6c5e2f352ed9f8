import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { FIELDS, keysOf } from './fields.js';

const strongroom = useSharedStrongroom();

describe('deleting a project', () => {
  test('answers it without _id and environments, and everything in it is gone', async () => {
    const { admin, project } = await strongroom.seed.project();
    const reply = await admin.delete(`/api/v1/projects/${project.id}`);
    expect(reply.status).toBe(200);
    expect(keysOf(reply.body.project)).toEqual([...FIELDS].sort());
    expect(await admin.get(`/api/v1/projects/${project.id}`)).toBeError(404, 'PROJECT_NOT_FOUND');
    for (const table of ['environment', 'folder', 'project_membership', 'data_key']) {
      expect(await strongroom.sql(`select 1 from ${table} where project_id = $1`, [project.id])).toEqual([]);
    }
  });

  test('needs the right, and is refused while the project is protected', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    expect(await developer.delete(path)).toBeError(403, 'PERMISSION_DENIED');
    await admin.patch(path, { hasDeleteProtection: true });
    expect(await admin.delete(path)).toBeError(409, 'DELETE_PROTECTED');
    expect((await admin.get(path)).status).toBe(200);
  });

  test('happens once when two ask at the same moment', async () => {
    const { admin, project } = await strongroom.seed.project();
    const replies = await Promise.all([1, 2].map(() => admin.delete(`/api/v1/projects/${project.id}`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test('never passes a protection that was switched on at the same moment', async () => {
    for (let round = 0; round < rounds(10); round += 1) {
      const { admin, project } = await strongroom.seed.project();
      const path = `/api/v1/projects/${project.id}`;
      const [protection, deletion] = await Promise.all([
        admin.patch(path, { hasDeleteProtection: true }),
        admin.delete(path),
      ]);
      expect([protection.status, deletion.status]).toEqual(
        deletion.status === 200 ? [expect.any(Number), 200] : [200, 409],
      );
      expect((await admin.get(path)).status).toBe(deletion.status === 200 ? 404 : 200);
    }
  });
});
