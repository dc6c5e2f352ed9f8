import { mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const LONG = 'x'.repeat(60);
const FULL = '${dev.BASE}'.repeat(12_000);

/** What a value refers to is a part of the value. */
describe('a rename of a secret to which a value refers that the caller may not read', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(values: Readonly<Record<string, string>>) {
    const { admin, project } = await strongroom.seed.project();
    const at = (environment: string) => ({ projectId: project.id, environment });
    const { folder } = mustSucceed(await admin.post('/api/v2/folders', { ...at('dev'), name: 'a' })).body;
    for (const [name, secretValue] of Object.entries({
      'dev BASE': 'b',
      'dev OTHER': 'o',
      'dev/a IN': 'i',
      ...values,
    })) {
      const [place = '', key] = name.split(' ');
      const [environment = '', path = ''] = place.split('/');
      const body = { ...at(environment), secretPath: `/${path}`, secretValue };
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, body));
    }
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      { subject: 'secrets', action: ['describeSecret', 'edit'], conditions: { environment: 'dev' } },
      { subject: 'secrets', action: ['readValue'], conditions: { secretName: { $ne: 'HIDDEN' } } },
      { subject: 'secret-folders', action: ['read', 'edit'] },
    );
    const rename = (newSecretName: string) => caller.patch('/api/v4/secrets/BASE', { ...at('dev'), newSecretName });
    const renameFolder = (name: string) => caller.patch(`/api/v2/folders/${folder.id}`, { ...at('dev'), name });
    const batch = (...secrets: object[]) => caller.patch('/api/v4/secrets/batch', { ...at('dev'), secrets });
    const stored = async (key: string, environment: string) => {
      const query = new URLSearchParams({ ...at(environment), expandSecretReferences: 'false' });
      const { secret } = mustSucceed(await admin.get(`/api/v4/secrets/${key}?${query}`)).body;
      return [secret.version, secret.secretValue];
    };
    return { rename, renameFolder, batch, stored };
  }

  test.each([
    ['nothing refers to it', {}],
    ['a value of a hidden secret does', { 'prod HIDDEN': '${dev.BASE}' }],
    ['a hidden value beside it does', { 'dev HIDDEN': '${BASE}' }],
    [
      'many hidden values do',
      { 'prod HIDDEN': '${dev.BASE}', 'staging HIDDEN': '${dev.BASE}', 'dev HIDDEN': '${BASE}' },
    ],
  ])('to a key that references cannot name succeeds alike when %s', async (_, values) => {
    const { rename, stored } = await seeded(values);
    const { body, status } = await rename('a.b');
    expect([status, body.secret.secretKey, body.secret.version]).toEqual([200, 'a.b', 2]);
    // What cannot follow stays as it stands, for whoever may read it.
    for (const [name, value] of Object.entries(values)) {
      const [environment = '', key = ''] = name.split(' ');
      expect(await stored(key, environment)).toEqual([1, value]);
    }
  });

  test('is refused where a value that the caller may read refers to it as well', async () => {
    const { rename, stored } = await seeded({ 'dev SHOWN': '${BASE}', 'prod HIDDEN': '${dev.BASE}' });
    expect(await rename('a.b')).toBeError(409, 'SECRET_REFERENCED');
    mustSucceed(await rename('BETTER'));
    expect(await stored('SHOWN', 'dev')).toEqual([2, '${BETTER}']);
    expect(await stored('HIDDEN', 'prod')).toEqual([2, '${dev.BETTER}']);
  });

  test('succeeds alike in a batch that writes the hidden value itself', async () => {
    const { batch, stored } = await seeded({ 'dev HIDDEN': '${BASE} ${OTHER}' });
    mustSucceed(
      await batch(
        { secretKey: 'BASE', newSecretName: 'a.b' },
        { secretKey: 'OTHER', newSecretName: 'ANOTHER' },
        { secretKey: 'HIDDEN', secretComment: 'written' },
      ),
    );
    expect(await stored('HIDDEN', 'dev')).toEqual([2, '${BASE} ${ANOTHER}']);
  });

  test('to a name with which the hidden value would be too long succeeds, and that value stays', async () => {
    const { renameFolder, batch, stored } = await seeded({
      'prod HIDDEN': FULL,
      'staging HIDDEN': '${dev.a.IN}'.repeat(12_000),
      'dev HIDDEN': '${BASE}'.repeat(20_000),
    });
    mustSucceed(await renameFolder(LONG));
    mustSucceed(await batch({ secretKey: 'BASE', newSecretName: LONG }, { secretKey: 'HIDDEN', secretComment: 'w' }));
    expect(await stored('HIDDEN', 'prod')).toEqual([1, FULL]);
    expect((await stored('HIDDEN', 'staging'))[0]).toBe(1);
    expect(await stored('HIDDEN', 'dev')).toEqual([2, '${BASE}'.repeat(20_000)]);
  });
});
