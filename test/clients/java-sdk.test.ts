import { mustSucceed } from '../kit/caller.js';
import { useSharedStrongroom } from '../kit/strongroom.js';

describe('the Java SDK', () => {
  const strongroom = useSharedStrongroom();

  test('makes, reads, lists, changes and deletes a folder, with the ID in the body as well', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { workspaceId: project.id, environment: 'dev', path: '/' };
    const made = mustSucceed(await admin.post('/api/v1/folders', { ...at, name: 'web' })).body.folder;
    const folder = { id: made.id, name: 'web', envId: project.environments[0].id, description: null };
    expect(made).toMatchObject({ ...folder, version: 1, parentId: expect.any(String), createdAt: expect.any(String) });
    expect(mustSucceed(await admin.get(`/api/v1/folders/${made.id}`)).body.folder).toMatchObject(folder);
    const listed = await admin.get(`/api/v1/folders?${new URLSearchParams({ ...at, recursive: 'true' })}`);
    expect(mustSucceed(listed).body.folders).toMatchObject([folder]);
    const change = { ...at, folderId: made.id, name: 'shop' };
    expect(mustSucceed(await admin.patch(`/api/v1/folders/${made.id}`, change)).body.folder).toMatchObject({
      ...{ id: made.id, name: 'shop' },
    });
    const gone = await admin.delete(`/api/v1/folders/${made.id}`, { ...at, folderId: made.id });
    expect(mustSucceed(gone).body.folder).toMatchObject({ id: made.id, name: 'shop' });
    expect(await admin.get(`/api/v1/folders/${made.id}`)).toBeError(404, 'FOLDER_NOT_FOUND');
  });
});
