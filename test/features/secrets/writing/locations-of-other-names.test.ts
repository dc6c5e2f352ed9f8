import type { Caller } from '../../../kit/caller.js';
import { type OtherNode, useSharedStrongroom } from '../../../kit/strongroom.js';

/** A node remembers which folder a name means. */
describe('writes go to what has the name now', () => {
  const strongroom = useSharedStrongroom();
  let other: OtherNode;
  beforeAll(async () => {
    other = await strongroom.otherNode();
  });

  async function scene() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const folder = async (name: string): Promise<string> =>
      (await admin.post('/api/v2/folders', { ...at, name })).body.folder.id;
    const create = (key: string, as: Caller = admin) =>
      as.post(`/api/v4/secrets/${key}`, { ...at, secretPath: '/a', secretValue: `of ${key}` });
    const keys = async (secretPath: string): Promise<string[]> => {
      const { body } = await admin.get(
        `/api/v4/secrets?projectId=${project.id}&environment=dev&secretPath=${secretPath}`,
      );
      return body.secrets.map(({ secretKey }: { secretKey: string }) => secretKey).sort();
    };
    const first = await folder('a');
    expect((await create('ONE')).status).toBe(200);
    expect((await create('TWO')).status).toBe(200);
    return { admin, project, at, folder, create, keys, first };
  }

  test('when a folder is renamed and another one takes its name', async () => {
    const { admin, at, folder, create, keys, first } = await scene();
    expect((await admin.patch(`/api/v2/folders/${first}`, { ...at, name: 'b' })).status).toBe(200);
    expect(await create('THREE')).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await admin.patch('/api/v4/secrets/ONE', { ...at, secretPath: '/a', secretValue: 'new' })).toBeError(
      404,
      'FOLDER_NOT_FOUND',
    );
    await folder('a');
    expect((await create('THREE')).status).toBe(200);
    expect((await create('ONE')).status).toBe(200);
    expect(await keys('/a')).toEqual(['ONE', 'THREE']);
    expect(await keys('/b')).toEqual(['ONE', 'TWO']);
  });

  test('when a folder with the same secrets stands there, on each change, also at a node that did not make it', async () => {
    const { admin, at, folder, create, keys, first } = await scene();
    const there = other.caller(admin.token ?? '');
    const value = async (secretPath: string) =>
      (await admin.get(`/api/v4/secrets/ONE?projectId=${at.projectId}&environment=dev&secretPath=${secretPath}`)).body
        .secret.secretValue;
    const change = { ...at, secretPath: '/a' };
    expect((await there.patch('/api/v4/secrets/ONE', { ...change, secretValue: 'before' })).status).toBe(200);
    await admin.patch(`/api/v2/folders/${first}`, { ...at, name: 'b' });
    await folder('a');
    await create('ONE');
    expect((await there.patch('/api/v4/secrets/ONE', { ...change, secretValue: 'after' })).status).toBe(200);
    expect([await value('/a'), await value('/b')]).toEqual(['after', 'before']);
    const skipped = { ...change, mode: 'ignore', secrets: [{ secretKey: 'TWO', secretValue: 'no' }] };
    expect((await there.patch('/api/v4/secrets/batch', skipped)).status).toBe(200);
    expect((await there.request({ method: 'DELETE', path: '/api/v4/secrets/ONE', body: change })).status).toBe(200);
    expect(await keys('/a')).toEqual([]);
    expect(await keys('/b')).toEqual(['ONE', 'TWO']);
  });

  test('when a folder is deleted and made again, and when its environment gets another slug', async () => {
    const { admin, project, at, folder, create, keys, first } = await scene();
    await admin.request({ method: 'DELETE', path: `/api/v2/folders/${first}`, body: { ...at, forceDelete: true } });
    expect(await create('THREE')).toBeError(404, 'FOLDER_NOT_FOUND');
    await folder('a');
    expect((await create('THREE')).status).toBe(200);
    expect(await keys('/a')).toEqual(['THREE']);
    const [environment] = project.environments.filter(({ slug }: { slug: string }) => slug === 'dev');
    await admin.patch(`/api/v1/projects/${project.id}/environments/${environment?.id}`, { slug: 'local' });
    expect(await create('FOUR')).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
  });
});
