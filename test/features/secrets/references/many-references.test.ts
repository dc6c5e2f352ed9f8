import { type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';

/** What a value names is compared with what it named before. Name by name with each other, long values took for ever. */
describe('a value with very many references', () => {
  const strongroom = useSharedStrongroom();

  /** A project with one value of as many references, all but the last of them of one key. */
  async function withReferences(count: number, last: string) {
    const { admin: caller, project } = await strongroom.seed.project();
    // One of these takes seconds of a machine that does much else, and never ended within the limit when names were compared with each other.
    const admin = caller.patient;
    const names = Array.from({ length: count - 1 }, (_, index) => `\${e${index}.K}`);
    const secretValue = [...names, last].join('');
    const at = { projectId: project.id, environment: 'dev' };
    expect((await admin.post('/api/v4/secrets/MANY', { ...at, secretValue })).status).toBe(200);
    const stored = async (): Promise<number> =>
      Number(
        (await strongroom.sql('select count(*) from secret_reference where project_id = $1', [project.id]))[0]?.count,
      );
    const change = (body: object): Promise<Reply> => admin.patch('/api/v4/secrets/MANY', { ...at, ...body });
    return { admin, project, at, secretValue, stored, change };
  }

  test('is changed, and keeps those that it still names', async () => {
    const { change, stored, secretValue } = await withReferences(16_000, '${LAST}');
    expect((await change({ secretComment: 'changed' })).status).toBe(200);
    expect(await stored()).toBe(16_000);
    expect((await change({ secretValue: secretValue.slice(0, secretValue.indexOf('${e10.K}')) })).status).toBe(200);
    expect(await stored()).toBe(10);
  });

  test('does not keep what it names from getting another key', async () => {
    const { admin, project, stored } = await withReferences(16_000, '${prod.TARGET}');
    const prod = { projectId: project.id, environment: 'prod' };
    await admin.post('/api/v4/secrets/TARGET', { ...prod, secretValue: 'v' });
    const renamed = await admin.patch('/api/v4/secrets/TARGET', { ...prod, newSecretName: 'AIM' });
    expect(renamed.status).toBe(200);
    expect(await stored()).toBe(16_000);
    const { secret } = (await admin.get(`/api/v4/secrets/MANY?projectId=${project.id}&environment=dev`)).body;
    expect(secret.secretValue.endsWith('${e15998.K}${prod.AIM}')).toBe(true);
  });
});
