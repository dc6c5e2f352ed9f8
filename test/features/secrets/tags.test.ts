import { useSharedStrongroom } from '../../kit/strongroom.js';

describe('tags', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}/tags`;
    return { admin, project, path };
  }

  test('are made, read by id and by slug, listed by slug, changed and deleted', async () => {
    const { admin, path } = await seeded();
    const { tag } = (await admin.post(path, { slug: 'web', color: '#00aa00' })).body;
    expect(tag).toEqual({ id: expect.any(String), slug: 'web', name: 'web', color: '#00aa00' });
    await admin.post(path, { slug: 'db', color: 'red' });
    expect((await admin.get(path)).body.tags.map(({ slug }: { slug: string }) => slug)).toEqual(['db', 'web']);
    expect((await admin.get(`${path}/${tag.id}`)).body).toEqual({ tag });
    expect((await admin.get(`${path}/slug/web`)).body).toEqual({ tag });
    const changed = { ...tag, slug: 'site', name: 'site' };
    expect((await admin.patch(`${path}/${tag.id}`, { slug: 'site' })).body).toEqual({ tag: changed });
    expect((await admin.delete(`${path}/${tag.id}`)).body).toEqual({ tag: changed });
    expect(await admin.get(`${path}/${tag.id}`)).toBeError(404, 'TAG_NOT_FOUND');
    expect(await admin.delete(`${path}/${tag.id}`)).toBeError(404, 'TAG_NOT_FOUND');
  });

  test('are refused with TAG_SLUG_TAKEN when the project has the slug, and the first tag stays', async () => {
    const { admin, path } = await seeded();
    const first = await admin.post(path, { slug: 'db', color: '#aa0000' });
    const other = await admin.post(path, { slug: 'web', color: '#aa0000' });
    expect(await admin.post(path, { slug: 'db', color: '#00aa00' })).toBeError(409, 'TAG_SLUG_TAKEN');
    expect(await admin.patch(`${path}/${other.body.tag.id}`, { slug: 'db' })).toBeError(409, 'TAG_SLUG_TAKEN');
    expect((await admin.get(path)).body.tags).toEqual([first.body.tag, other.body.tag]);
  });

  test('name every fault at once', async () => {
    const { admin, path } = await seeded();
    const reply = await admin.post(path, { slug: 'Not A Slug', color: '' });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details.map((detail: { path: string }) => detail.path).sort()).toEqual([
      'body.color',
      'body.slug',
    ]);
  });

  test('lead to their project from wherever they are shown', async () => {
    const { admin, project, path } = await seeded();
    const { tag } = (await admin.post(path, { slug: 'db', color: 'red' })).body;
    const at = { projectId: project.id, environment: 'dev' };
    const { secret } = (await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'v', tagIds: [tag.id] })).body;
    const shown = '{ id projectId project { id name } }';
    const data = await admin.data(`{
      project(id: "${project.id}") { tags { nodes ${shown} } environments { secrets { nodes { tags ${shown} } } } }
      secretVersions(secretId: "${secret.id}") { nodes { tags ${shown} } }
    }`);

    const expected = [{ id: tag.id, projectId: project.id, project: { id: project.id, name: project.name } }];
    expect(data.project.tags.nodes).toEqual(expected);
    expect(data.project.environments[0].secrets.nodes).toEqual([{ tags: expected }]);
    expect(data.secretVersions.nodes).toEqual([{ tags: expected }]);
  });

  test('leave the secrets that carry them when they go', async () => {
    const { admin, project, path } = await seeded();
    const { tag } = (await admin.post(path, { slug: 'db', color: 'red' })).body;
    const at = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'v', tagIds: [tag.id] });
    await admin.delete(`${path}/${tag.id}`);
    const { secret } = (await admin.get(`/api/v4/secrets/A?projectId=${project.id}&environment=dev`)).body;
    expect(secret).toMatchObject({ secretValue: 'v', tags: [], version: 1 });
  });

  test('are for members who may: a viewer reads, a caller without rights gets 403, a stranger 404', async () => {
    const { admin, project, path } = await seeded();
    const { tag } = (await admin.post(path, { slug: 'db', color: 'red' })).body;
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const { admin: foreign, project: elsewhere } = await strongroom.seed.project();
    expect((await viewer.get(`${path}/${tag.id}`)).status).toBe(200);
    expect(await viewer.post(path, { slug: 'x', color: 'red' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await nobody.get(path)).toBeError(403, 'PERMISSION_DENIED');
    expect(await foreign.get(path)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await foreign.get(`/api/v1/projects/${elsewhere.id}/tags/${tag.id}`)).toBeError(404, 'TAG_NOT_FOUND');
    expect(await admin.get(`${path}/no-uuid`)).toBeError(404, 'TAG_NOT_FOUND');
    const at = { projectId: elsewhere.id, environment: 'dev', tagIds: [tag.id] };
    expect(await foreign.post('/api/v4/secrets/A', at)).toBeError(404, 'TAG_NOT_FOUND');
  });
});
