import type { Caller } from '../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';

/** What a client that mirrors a folder gets: the table of src/docs/mirroring.md, row by row. */
describe('a client that mirrors secrets of a folder', () => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  /** A machine that is a viewer of a project with a folder `/app`, and of two secrets in it. */
  async function mirror() {
    const { admin, project } = await strongroom.seed.project();
    const where = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v2/folders', { ...where, name: 'app' });
    for (const key of ['KEPT', 'GONE'])
      await admin.post(`/api/v4/secrets/${key}`, { ...where, secretPath: '/app', secretValue: 'x' });
    const client = await strongroom.seed.caller(admin, { project: project.id });
    const membership = `/api/v2/workspace/${project.id}/identity-memberships/${client.identityId}`;
    const query = `projectId=${project.id}&environment=dev&secretPath=/app`;
    return { admin, project, where, client, membership, query };
  }

  const single = (client: Caller, query: string) => client.get(`/api/v4/secrets/GONE?${query}`);
  const list = (client: Caller, query: string) => client.get(`/api/v4/secrets?${query}`);
  const keys = async (client: Caller, query: string): Promise<unknown> => {
    const { status, body } = await list(client, query);
    return { status, keys: (body.secrets as { secretKey: string }[]).map(({ secretKey }) => secretKey) };
  };

  test('reads both, and loses one that is deleted, and the folder by a code of its own', async () => {
    const { admin, where, client, query } = await mirror();
    expect(await keys(client, query)).toEqual({ status: 200, keys: ['GONE', 'KEPT'] });
    await admin.delete('/api/v4/secrets/GONE', { ...where, secretPath: '/app' });
    expect(await single(client, query)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await keys(client, query)).toEqual({ status: 200, keys: ['KEPT'] });
    const missing = query.replace('/app', '/missing');
    expect(await single(client, missing)).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await list(client, missing)).toBeError(404, 'FOLDER_NOT_FOUND');
  });

  test('gets a shorter list with a narrower role, and 403 with one that allows nothing', async () => {
    const { admin, project, client, membership, query } = await mirror();
    const rule = {
      subject: 'secrets',
      action: ['describeSecret', 'readValue'],
      conditions: { secretName: { $eq: 'KEPT' } },
    };
    await admin.post(`/api/v1/projects/${project.id}/roles`, { slug: 'one-key', name: 'One key', permissions: [rule] });
    await admin.patch(membership, { roles: [{ role: 'one-key' }] });
    expect(await single(client, query)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await keys(client, query)).toEqual({ status: 200, keys: ['KEPT'] });
    await admin.patch(membership, { roles: [{ role: 'no-access' }] });
    expect(await single(client, query)).toBeError(403, 'PERMISSION_DENIED');
    expect(await list(client, query)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('gets the code of a missing project, and never that of a folder or a secret, when its membership has ended', async () => {
    const { admin, client, membership, query } = await mirror();
    await admin.delete(membership);
    expect(await single(client, query)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await list(client, query)).toBeError(404, 'PROJECT_NOT_FOUND');
  });
});
