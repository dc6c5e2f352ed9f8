import { type SharedStrongroom, useSharedStrongroom } from '../../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

describe('metadata whose open part was edited in the database', () => {
  const encrypted = (key: string) => ({ key, isEncrypted: true });

  test.each<[string, unknown]>([
    ['names swapped', [encrypted('b'), encrypted('a')]],
    ['the first one dropped', [encrypted('b')]],
    ['the last one dropped', [encrypted('a')]],
    ['one added', [encrypted('a'), encrypted('b'), encrypted('c')]],
    ['one opened', [encrypted('a'), { key: 'b', value: 'forged' }]],
    ['all dropped', []],
    ['no list', { a: 1 }],
    ['no entries', [null, 5]],
    ['no text', [{ key: 'a', value: 5 }]],
  ])('%s: is withheld and counted, and no value stands under the name of another', async (_, metadata) => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const { secret } = (
      await admin.post('/api/v4/secrets/KEY', {
        ...at,
        secretValue: 'value',
        secretMetadata: [
          { key: 'a', value: 'sealed a', isEncrypted: true },
          { key: 'b', value: 'sealed b', isEncrypted: true },
        ],
      })
    ).body;
    await strongroom.sql('update secret set metadata = $2 where id = $1', [secret.id, JSON.stringify(metadata)]);
    const list = await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`);

    expect(list.status).toBe(200);
    expect(list.headers['x-unreadable-values']).toBe('1');
    expect(list.text).not.toContain('sealed ');
    expect(list.body.secrets[0]).toMatchObject({ secretKey: 'KEY', secretValue: 'value' });
    expect(await admin.get(`/api/v4/secrets/id/${secret.id}`)).toBeError(503, 'SEALED_VALUE_INVALID');
    const change = { ...at, secretMetadata: [{ key: 'a', value: 'new', isEncrypted: true }] };
    expect((await admin.patch('/api/v4/secrets/KEY', change)).status).toBe(200);
  });
});
