import { type Caller, mustSucceed } from '../kit/caller.js';
import { callerWithRules } from '../kit/rules.js';
import { useStrongroom } from '../kit/strongroom.js';

/** A deleted secret comes back where its folder is now, and its folder may have been moved to where the rules show more. */
describe('a secret that was deleted where the caller could not know of it', () => {
  const strongroom = useStrongroom({ RATE_LIMIT: 'off' });

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
});
