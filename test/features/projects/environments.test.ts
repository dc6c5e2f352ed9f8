import { randomUUID } from 'node:crypto';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
type Seeded = Awaited<ReturnType<typeof strongroom.seed.project>>;

/** `dev staging prod`, in the order of the project. */
async function order({ admin, project }: Pick<Seeded, 'admin' | 'project'>): Promise<string> {
  const { body } = await admin.get(`/api/v1/projects/${project.id}`);
  return body.project.environments.map(({ slug }: { slug: string }) => slug).join(' ');
}

describe('environments of a project', () => {
  test('are added last, or at a position, and get a root folder', async () => {
    const seeded = await strongroom.seed.project();
    const { admin, project } = seeded;
    const path = `/api/v1/projects/${project.id}/environments`;
    const last = await admin.post(path, { name: 'Last', slug: 'last' });
    expect(last.body).toMatchObject({
      message: expect.any(String),
      projectId: project.id,
      environment: { name: 'Last', slug: 'last', position: 4 },
    });
    await admin.post(path, { name: 'Second', slug: 'second', position: 2 });
    await admin.post(path, { name: 'Beyond', slug: 'beyond', position: 99 });
    expect(await order(seeded)).toBe('dev second staging prod last beyond');
    const folders = await strongroom.sql(
      `select 1 from folder where environment_id = $1 and path = '/' and name = 'root'`,
      [last.body.environment.id],
    );
    expect(folders).toHaveLength(1);
  });

  test('move, are renamed and go, and the others make room', async () => {
    const seeded = await strongroom.seed.project();
    const { admin, project } = seeded;
    const at = (slug: string): string =>
      `/api/v1/projects/${project.id}/environments/${project.environments.find((one: { slug: string }) => one.slug === slug)?.id}`;
    await admin.patch(at('prod'), { position: 1 });
    expect(await order(seeded)).toBe('prod dev staging');
    await admin.patch(at('prod'), { position: 99, slug: 'live', name: 'Live' });
    expect(await order(seeded)).toBe('dev staging live');
    expect((await admin.get(at('prod'))).body.environment).toMatchObject({ slug: 'live', name: 'Live', position: 3 });
    expect((await admin.delete(at('dev'))).body.environment).toMatchObject({ slug: 'dev' });
    expect((await admin.get(at('prod'))).body.environment.position).toBe(2);
    expect(await admin.get(at('dev'))).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
  });

  test('keep positions 1 to n and one of each slug, whatever happens at once', async () => {
    const seeded = await strongroom.seed.project();
    const { admin, project } = seeded;
    const path = `/api/v1/projects/${project.id}/environments`;
    const replies = await Promise.all([
      ...Array.from({ length: 6 }, (_, n) => admin.post(path, { name: 'n', slug: `n${n % 5}`, position: 1 + n })),
      admin.patch(`${path}/${project.environments[0].id}`, { position: 3 }),
      admin.delete(`${path}/${project.environments[1].id}`),
    ]);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(1);
    const rows = await strongroom.sql<{ position: number }>(
      'select position from environment where project_id = $1 order by position',
      [project.id],
    );
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('are refused with every fault at once, and for a slug that is taken', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}/environments`;
    const reply = await admin.post(path, { name: '', slug: 'A b', position: '1' });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details.map((detail: { path: string }) => detail.path).sort()).toEqual([
      'body.name',
      'body.position',
      'body.slug',
    ]);
    expect(await admin.post(path, { name: 'x', slug: 'dev' })).toBeError(409, 'ENVIRONMENT_SLUG_TAKEN');
    const renamed = await admin.patch(`${path}/${project.environments[1].id}`, { slug: 'dev' });
    expect(renamed).toBeError(409, 'ENVIRONMENT_SLUG_TAKEN');
  });

  test('are read by viewers, changed by developers, and nothing to strangers', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}/environments`;
    const one = `${path}/${project.environments[0].id}`;
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    expect((await viewer.get(one)).status).toBe(200);
    expect(await viewer.post(path, { name: 'x', slug: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await viewer.patch(one, { name: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await viewer.delete(one)).toBeError(403, 'PERMISSION_DENIED');
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    expect((await developer.patch(one, { name: 'Renamed' })).status).toBe(200);
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    expect(await nobody.get(one)).toBeError(403, 'PERMISSION_DENIED');
    const foreign = await strongroom.seed.project();
    expect(await foreign.admin.get(one)).toBeError(404, 'PROJECT_NOT_FOUND');
    for (const id of [foreign.project.environments[0].id, randomUUID(), 'no-uuid']) {
      expect(await admin.get(`${path}/${id}`)).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
      expect(await admin.patch(`${path}/${id}`, { name: 'x' })).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
      expect(await admin.delete(`${path}/${id}`)).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    }
  });

  test('are found by id or by slug in GraphQL', async () => {
    const { admin, project } = await strongroom.seed.project();
    const find = (field: string, by: string) =>
      admin.graphql(`{ ${field}(projectId: "${project.id}", ${by}) { id slug position } }`);
    const dev = project.environments[0];
    const found = { id: dev.id, slug: 'dev', position: 1 };
    expect((await find('environmentBySlug', 'slug: "dev"')).body.data).toEqual({ environmentBySlug: found });
    expect((await find('environment', `id: "${dev.id}"`)).body.data).toEqual({ environment: found });
    expect(await find('environmentBySlug', 'slug: "none"')).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
  });
});
