import { sample } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const strongroom = useSharedStrongroom({}, 'no deadlocks');

/**
 * The unique key of a folder's secrets is checked when a statement ends, so that keys can be swapped. Batches that inserted
 * the same keys at once waited there for each other, until one after the other was given up.
 */
describe('batches with the same keys at the same moment', () => {
  test('are made once, and the others are told so', async () => {
    const { admin, project } = await strongroom.seed.project();
    const secrets = Array.from({ length: 50 }, (_, index) => ({ secretKey: `K${index}`, secretValue: 'v' }));
    for (const folder of sample(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], 4)) {
      const place = { projectId: project.id, environment: 'dev' };
      await admin.post('/api/v2/folders', { ...place, name: folder });
      const send = () => admin.patient.post('/api/v4/secrets/batch', { ...place, secretPath: `/${folder}`, secrets });
      const replies = await Promise.all(Array.from({ length: 5 }, send));
      const reported = replies.map(({ status, body }) => (status === 200 ? 'made' : body.code)).sort();
      expect(reported).toEqual([...Array.from({ length: 4 }, () => 'SECRET_KEY_TAKEN'), 'made']);
    }
  });

  test('and so are renames to one key, of secrets that name each other', async () => {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    for (const key of ['A', 'B']) await admin.post(`/api/v4/secrets/${key}`, { ...place, secretValue: '${A}${B}' });
    const renames = Array.from({ length: 20 }, (_, index) =>
      admin.patient.patch(`/api/v4/secrets/${index % 2 === 0 ? 'A' : 'B'}`, { ...place, newSecretName: 'C' }),
    );
    const reported = (await Promise.all(renames)).map(({ status, body }) => (status === 200 ? 'renamed' : body.code));
    expect(reported.filter((word) => word === 'renamed')).toHaveLength(1);
    expect(reported.filter((word) => !['renamed', 'SECRET_KEY_TAKEN', 'SECRET_NOT_FOUND'].includes(word))).toEqual([]);
  });
});

describe('single secrets that are made at the same moment', () => {
  const place = (projectId: string) => ({ projectId, environment: 'dev', secretValue: 'v' });

  test('with one key: one is made, the others are told so, and nobody is given up for a deadlock', async () => {
    const { admin, project } = await strongroom.seed.project();
    const before = await strongroom.deadlocks();
    for (const key of sample(['A', 'B', 'C', 'D'], 4)) {
      const replies = await Promise.all(
        Array.from({ length: 100 }, () => admin.patient.post(`/api/v4/secrets/${key}`, place(project.id))),
      );
      const reported = replies.map(({ status, body }) => (status === 200 ? 'made' : body.code));
      expect(reported.filter((word) => word === 'made')).toHaveLength(1);
      expect(reported.filter((word) => !['made', 'SECRET_KEY_TAKEN'].includes(word))).toEqual([]);
    }
    expect(await strongroom.deadlocks()).toBe(before);
  });
});
