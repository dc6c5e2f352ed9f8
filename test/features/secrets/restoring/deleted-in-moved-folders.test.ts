import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

/** A deleted secret comes back where its folder is now, and its folder may have been moved to where the rules show more. */
describe('a secret that was deleted where the caller could not know of it', () => {
  const strongroom = useSharedStrongroom();

  test('stays unknown when its folder is moved to where the caller may know of secrets, while others are listed', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const folder = async (path: string, name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, path, name })).body.folder.id as string;
    const [vault] = [await folder('/', 'vault'), await folder('/', 'open'), await folder('/open', 'inner')];
    const deleted = async (secretPath: string, key: string): Promise<string> => {
      const path = `/api/v4/secrets/${key}`;
      const { secret } = mustSucceed(await admin.post(path, { ...at, secretPath, secretValue: 'sesame' })).body;
      mustSucceed(await admin.delete(path, { ...at, secretPath }));
      return secret.id;
    };
    const [hidden, known] = [await deleted('/vault', 'HID'), await deleted('/open/inner', 'SEEN')];
    const conditions = { secretPath: { $glob: '/open/**' } };
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      { subject: 'secret-folders', action: ['read', 'edit'] },
      { subject: 'secrets', action: ['describeSecret', 'readValue', 'create', 'edit'], conditions },
    );
    const list = async (who: Caller): Promise<string[]> => {
      const query = new URLSearchParams({ ...at, recursive: 'true' });
      const { deletedSecrets } = mustSucceed(await who.get(`/api/v1/secrets/deleted?${query}`)).body;
      return deletedSecrets.map((it: Record<string, string>) => `${it.secretPath} ${it.secretKey}`);
    };
    expect(await list(caller)).toEqual(['/open/inner SEEN']);
    mustSucceed(await caller.patch(`/api/v2/folders/${vault}`, { ...at, newPath: '/open' }));
    expect(await list(admin)).toEqual(['/open/inner SEEN', '/open/vault HID']);
    expect(await list(caller)).toEqual(['/open/inner SEEN']);
    for (const path of ['versions', 'versions/1', 'versions/2'])
      expect(await caller.get(`/api/v1/secrets/${hidden}/${path}`)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await caller.post(`/api/v1/secrets/${hidden}/restore`, { version: 1 })).toBeError(404, 'SECRET_NOT_FOUND');
    expect((await caller.post(`/api/v1/secrets/${known}/restore`, { version: 1 })).body.secret.secretValue).toBe(
      'sesame',
    );
  });

  test('keeps its value to itself when its folder gets the path back under which versions were readable', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const { folder } = mustSucceed(await admin.post('/api/v2/folders', { ...at, name: 'open' })).body;
    const rename = (who: Caller, name: string) => who.patch(`/api/v2/folders/${folder.id}`, { ...at, name });
    const put = async (key: string, secretValue: string) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretPath: '/open', secretValue })).body.secret
        .id as string;
    const [hidden, known] = [await put('HID', 'sesame'), await put('SEEN', 'plain')];
    mustSucceed(await admin.patch('/api/v4/secrets/HID', { ...at, secretPath: '/open', secretValue: 'other' }));
    mustSucceed(await admin.delete('/api/v4/secrets/SEEN', { ...at, secretPath: '/open' }));
    mustSucceed(await rename(admin, 'vault'));
    mustSucceed(await admin.delete('/api/v4/secrets/HID', { ...at, secretPath: '/vault' }));
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      { subject: 'secret-folders', action: ['read', 'edit'] },
      { subject: 'secrets', action: ['describeSecret', 'create', 'edit'] },
      { subject: 'secrets', action: ['readValue'], conditions: { secretPath: { $glob: '/open/**' } } },
    );
    const first = async (who: Caller, id: string) =>
      mustSucceed(await who.get(`/api/v1/secrets/${id}/versions/1`)).body.secretVersion.secretValue;
    expect(await first(caller, hidden)).toBe('<hidden>');
    mustSucceed(await rename(caller, 'open'));
    expect([await first(caller, hidden), await first(admin, hidden)]).toEqual(['<hidden>', 'sesame']);
    expect(await first(caller, known)).toBe('plain');
    const { compareSecretVersions } = await caller.data(
      'query ($id: ID!) { compareSecretVersions(secretId: $id, from: 1, to: 2) { differences } }',
      { id: hidden },
    );
    expect(compareSecretVersions.differences).toEqual([]);
    expect(await caller.post(`/api/v1/secrets/${hidden}/restore`, { version: 1 })).toBeError(403, 'PERMISSION_DENIED');
    expect((await caller.post(`/api/v1/secrets/${known}/restore`, { version: 1 })).body.secret.secretValue).toBe(
      'plain',
    );
  });
});
