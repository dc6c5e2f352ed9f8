import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const NAMES = ['copy', 'move', 'import', 'batch', 'export', 'id', 'raw'];
const SECRETS = [
  ['/api/v4/secrets', 'projectId'],
  ['/api/v3/secrets/raw', 'workspaceId'],
] as const;

describe('a secret with the key of a route', () => {
  const strongroom = useSharedStrongroom();

  test.each(SECRETS.flatMap(([path, word]) => NAMES.map((name) => [path, word, name] as const)))(
    'under %s, with %s, as %s, is created, read, updated and deleted as any other',
    async (path, word, name) => {
      const { admin, project } = await strongroom.seed.project();
      const at = { [word]: project.id, environment: 'dev' };
      const query = new URLSearchParams(at);
      const one = `${path}/${name}`;
      const made = mustSucceed(await admin.post(one, { ...at, secretValue: 'first' }));
      expect(made.body.secret).toMatchObject({ secretKey: name, secretValue: 'first', version: 1 });
      const read = mustSucceed(await admin.get(`${one}?${query}&expandSecretReferences=true&include_imports=true`));
      expect(read.body).toEqual({ secret: made.body.secret });
      const changed = mustSucceed(await admin.patch(one, { ...at, secretValue: 'second', secretComment: 'why' }));
      expect(changed.body.secret).toMatchObject({ secretKey: name, secretValue: 'second', version: 2 });
      expect(mustSucceed(await admin.delete(one, at)).body.secret).toMatchObject({ secretKey: name, version: 2 });
      expect(await admin.get(`${one}?${query}`)).toBeError(404, 'SECRET_NOT_FOUND');
    },
  );

  test('is told from the operation on many by the fields of that, and keys of idempotency tell them apart', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const headers = { 'idempotency-key': 'one' };
    const post = (name: string, body: object) => admin.post(`/api/v4/secrets/${name}`, body, headers);
    const single = mustSucceed(await post('batch', { ...at, secretValue: 'of one' }));
    expect(await post('batch', { ...at, secrets: [{ secretKey: 'A', secretValue: 'a' }] })).toBeError(
      422,
      'IDEMPOTENCY_KEY_REUSED',
    );
    expect((await post('batch', { ...at, secretValue: 'of one' })).body).toEqual(single.body);
    const many = mustSucceed(
      await admin.post('/api/v4/secrets/batch', { ...at, secrets: [{ secretKey: 'A', secretValue: 'a' }] }),
    );
    expect(many.body.secrets).toMatchObject([{ secretKey: 'A' }]);
    const file = mustSucceed(
      await admin.post('/api/v4/secrets/import', { ...at, format: 'dotenv', content: 'export=of a file\n' }),
    );
    expect(file.body).toMatchObject({ created: 1 });
    const query = new URLSearchParams(at);
    const exported = mustSucceed(await admin.get(`/api/v4/secrets/export?${query}&format=json`));
    expect(JSON.parse(exported.body.content)).toEqual({ A: 'a', batch: 'of one', export: 'of a file' });
    const one = mustSucceed(await admin.get(`/api/v4/secrets/export?${query}`));
    expect(one.body.secret).toMatchObject({ secretKey: 'export', secretValue: 'of a file' });
    const transfer = {
      projectId: project.id,
      sourceEnvironment: 'dev',
      destinationEnvironment: 'staging',
      secretIds: [single.body.secret.id],
    };
    expect(mustSucceed(await admin.post('/api/v4/secrets/copy', transfer)).body.secretIds).toHaveLength(1);
    expect(
      mustSucceed(await admin.post('/api/v4/secrets/move', { ...transfer, destinationEnvironment: 'prod' })).status,
    ).toBe(200);
  });

  test.each([
    ['POST', 'copy', { sourceEnvironment: 'dev', destinationEnvironment: 'prod' }, 'body.secretIds MISSING'],
    ['POST', 'move', { secretIds: [] }, 'body.secretIds TOO_SMALL'],
    ['POST', 'import', { environment: 'dev', format: 'json' }, 'body.content MISSING'],
    ['PATCH', 'batch', { environment: 'dev', mode: 'fail' }, 'body.secrets MISSING'],
    ['POST', 'copy', {}, 'body.environment MISSING'],
    ['POST', 'copy', [], 'body INVALID_TYPE'],
  ])('does not take a half request of the other operation: %s %s %j', async (method, name, body, violation) => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.request({ method, path: `/api/v4/secrets/${name}`, body });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const violations = (reply.body.details as { path: string; code: string }[]).map(
      ({ path, code }) => `${path} ${code}`,
    );
    expect(violations).toContain(violation);
  });
});

describe('a filter by metadata', () => {
  const strongroom = useSharedStrongroom();
  const WORST = '\\,'.repeat(9_989);

  test.each([
    ['every character of it escaped', `key=k,value=${WORST}`, 'exceeds the maximum length of metadata'],
    ['blanks around it', `key=k,value=v${' '.repeat(20_000 - 13)}`, null],
  ])('of 20,000 characters is read, with %s', async (_, filter, violation) => {
    const { admin, project } = await strongroom.seed.project();
    expect(filter.length).toBeGreaterThan(19_980);
    const at = new URLSearchParams({ projectId: project.id, environment: 'dev', metadataFilter: filter });
    // As a client that encodes whatever it can.
    const reply = await admin.get(`/api/v4/secrets?${String(at).replace(/\+/g, '%20')}`);
    if (violation === null) expect(mustSucceed(reply).body.secrets).toEqual([]);
    else expect(reply.body.details).toMatchObject([{ path: 'query.metadataFilter[0]', message: violation }]);
  });

  test('beyond that is refused, and beyond 64 KiB by the server', async () => {
    const { admin, project } = await strongroom.seed.project();
    const get = (filter: string) =>
      admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&metadataFilter=${filter}`);
    const long = await get('x'.repeat(20_001));
    expect(long).toBeError(422, 'VALIDATION_FAILED');
    expect(long.body.details[0]).toMatchObject({ path: 'query.metadataFilter', code: 'TOO_BIG' });
    expect(await get('x'.repeat(65_536))).toBeError(431, 'HEADERS_TOO_LARGE');
  });
});
