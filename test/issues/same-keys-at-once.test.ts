import { useStrongroom } from '../kit/strongroom.js';

/**
 * The unique key of a folder's secrets is checked when a statement ends, so that keys can be swapped. Batches that inserted
 * the same keys at once waited there for each other, until one after the other was given up.
 */
describe('batches with the same keys at the same moment', () => {
  const strongroom = useStrongroom();

  test('are made once, and the others are told so', async () => {
    const { admin, project } = await strongroom.seed.project();
    const secrets = Array.from({ length: 50 }, (_, index) => ({ secretKey: `K${index}`, secretValue: 'v' }));
    for (const folder of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const place = { projectId: project.id, environment: 'dev' };
      await admin.post('/api/v2/folders', { ...place, name: folder });
      const send = () => admin.post('/api/v4/secrets/batch', { ...place, secretPath: `/${folder}`, secrets });
      const replies = await Promise.all(Array.from({ length: 5 }, send));
      const told = replies.map(({ status, body }) => (status === 200 ? 'made' : body.code)).sort();
      expect(told).toEqual([...Array.from({ length: 4 }, () => 'SECRET_KEY_TAKEN'), 'made']);
    }
  });
});
