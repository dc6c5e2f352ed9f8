import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const USED = `query ($input: WhereUsedInput!, $first: Int, $after: String) {
  whereUsed(input: $input, first: $first, after: $after) {
    isScanLimitReached pageInfo { hasNextPage endCursor }
    nodes { kind environmentSlug secretPath secretKey usedKey isViaImport }
  }
}`;

interface Use {
  readonly kind: string;
  readonly environmentSlug: string;
  readonly secretPath: string;
  readonly secretKey: string | null;
  readonly usedKey: string | null;
  readonly isViaImport: boolean;
}

const textOf = ({ kind, environmentSlug, secretPath, secretKey, usedKey, isViaImport }: Use): string =>
  kind === 'IMPORT'
    ? `${isViaImport ? 'indirect' : 'direct'} ${environmentSlug} ${secretPath}`
    : `${secretKey} ${environmentSlug} ${secretPath} -> ${usedKey}`;

describe('where something is used', () => {
  const strongroom = useSharedStrongroom();

  const usesOf = async (caller: Caller, input: object): Promise<string[]> =>
    (await caller.data(USED, { input })).whereUsed.nodes.map(textOf);

  const importFrom = (
    admin: Caller,
    projectId: string,
    [environment, path, sourceEnvironment, sourcePath]: readonly [string, string, string, string],
  ) =>
    admin.data('mutation ($input: CreateSecretImportInput!) { createSecretImport(input: $input) { __typename } }', {
      input: { projectId, environment, path, sourceEnvironment, sourcePath },
    });

  /**
   * prod has `/db` with PASS and HOST; they are named from here and there. `/db` is imported by dev `/`, which staging `/`
   * imports, which staging `/app` imports.
   */
  async function web() {
    const { admin, project } = await strongroom.seed.project();
    const folder = async (environment: string, name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { projectId: project.id, environment, name }));
    for (const [environment, name] of [
      ['prod', 'db'],
      ['staging', 'app'],
      ['staging', 'db'],
    ] as const)
      await folder(environment, name);
    const put = async (environment: string, secretPath: string, values: Record<string, string>) => {
      const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
      mustSucceed(
        await admin.post('/api/v4/secrets/batch', { projectId: project.id, environment, secretPath, secrets }),
      );
    };
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references are written so
    await put('prod', '/db', { PASS: 'x', HOST: 'h', URL: 'pg://${HOST}:${prod.db.PASS}@${prod.db.HOST}' });
    await put('prod', '/', { ALSO: '${prod.db.PASS}', PASS: 'another', LOCAL: '${PASS}' });
    await put('staging', '/db', { PASS: 'third', MINE: '${PASS}' });
    await put('dev', '/', { FAR: 'a ${prod.db.PASS} b', GONE: '${prod.db.MISSING}' });
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references are written so
    await importFrom(admin, project.id, ['dev', '/', 'prod', '/db']);
    await importFrom(admin, project.id, ['staging', '/', 'dev', '/']);
    await importFrom(admin, project.id, ['staging', '/app', 'staging', '/']);
    await importFrom(admin, project.id, ['staging', '/app', 'prod', '/db']);
    const secret = (secretPath: string, secretKey: string, environment = 'prod') => ({
      secret: { projectId: project.id, environment, secretPath, secretKey },
    });
    const whole = (path: string, environment = 'prod') => ({ folder: { projectId: project.id, environment, path } });
    return { admin, project, secret, whole };
  }

  test('of a secret: the folders that import it, at any distance, and the secrets that name it', async () => {
    const { admin, secret } = await web();
    expect(await usesOf(admin, secret('/db', 'PASS'))).toEqual([
      'direct dev /',
      'indirect staging /',
      'direct staging /app',
      'FAR dev / -> PASS',
      'ALSO prod / -> PASS',
      'URL prod /db -> PASS',
    ]);
    expect(await usesOf(admin, secret('/', 'PASS'))).toEqual(['LOCAL prod / -> PASS']);
    expect(await usesOf(admin, secret('/db', 'PASS', 'staging'))).toEqual(['MINE staging /db -> PASS']);
    expect(await usesOf(admin, secret('/', 'ALSO'))).toEqual([]);
  });

  test('of a folder: the same for any secret in it, each pair once', async () => {
    const { admin, whole } = await web();
    expect(await usesOf(admin, whole('/db'))).toEqual([
      'direct dev /',
      'indirect staging /',
      'direct staging /app',
      'FAR dev / -> PASS',
      'ALSO prod / -> PASS',
      'URL prod /db -> HOST',
      'URL prod /db -> PASS',
    ]);
    expect(await usesOf(admin, whole('/', 'staging'))).toEqual(['direct staging /app']);
    expect(await usesOf(admin, whole('/app/', 'staging'))).toEqual([]);
  });

  test('follows a secret that moves, and forgets one that is rewritten', async () => {
    const { admin, project, secret } = await web();
    const at = { projectId: project.id, environment: 'prod' };
    mustSucceed(await admin.patch('/api/v4/secrets/PASS', { ...at, secretPath: '/db', newSecretName: 'WORD' }));
    expect((await usesOf(admin, secret('/db', 'WORD'))).slice(3)).toEqual([
      'FAR dev / -> WORD',
      'ALSO prod / -> WORD',
      'URL prod /db -> WORD',
    ]);
    mustSucceed(await admin.patch('/api/v4/secrets/ALSO', { ...at, secretValue: 'plain' }));
    mustSucceed(await admin.delete('/api/v4/secrets/URL', { ...at, secretPath: '/db' }));
    expect((await usesOf(admin, secret('/db', 'WORD'))).slice(3)).toEqual(['FAR dev / -> WORD']);
  });

  test('pages through it', async () => {
    const { admin, whole } = await web();
    const paged: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const { whereUsed } = await admin.data(USED, { input: whole('/db'), first: 2, after });
      paged.push(...whereUsed.nodes.map(textOf));
      ({ hasNextPage: more, endCursor: after } = whereUsed.pageInfo);
    }
    expect(paged).toEqual(await usesOf(admin, whole('/db')));
  });

  test('is for who may know of the thing: 403 without rights, 404 for strangers and what is not there', async () => {
    const { admin, project, secret, whole } = await web();
    const powerless = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const stranger = await strongroom.seed.caller(admin);
    for (const input of [secret('/db', 'PASS'), whole('/db')]) {
      expect(await powerless.graphql(USED, { input })).toBeError(403, 'PERMISSION_DENIED');
      expect(await stranger.graphql(USED, { input })).toBeError(404, 'PROJECT_NOT_FOUND');
    }
    const ask = (input: object) => admin.graphql(USED, { input });
    expect(await ask(secret('/db', 'MISSING'))).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await ask(secret('/none', 'PASS'))).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await ask(secret('/', 'PASS', 'none'))).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await ask(whole('/none'))).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await ask(whole('/..'))).toBeError(422, 'VALIDATION_FAILED');
    expect(await ask({ ...secret('/db', 'PASS'), ...whole('/db') })).toBeError(422, 'VALIDATION_FAILED');
    expect(await ask({})).toBeError(422, 'VALIDATION_FAILED');
  });

  test('takes the same few statements however much uses it, and leaves one audit row', async () => {
    const { admin, project, whole } = await web();
    const ask = () => admin.graphql(USED, { input: whole('/db') });
    const { count } = await strongroom.statements(ask);
    const secretValue = '${prod.db.PASS} ${prod.db.HOST}';
    await strongroom.seed.secrets(admin, project, 'dev', 90, (secret) => ({ ...secret, secretValue }));
    const more = await strongroom.statements(() => admin.graphql(USED, { input: whole('/db'), first: 1_000 }));
    expect(more.result.body.data.whereUsed.nodes).toHaveLength(187);
    expect(more.count).toBe(count);
    expect(count).toBeLessThanOrEqual(5);
    const rows = await strongroom.auditRows('request_id = $1', [more.result.headers['x-request-id']]);
    expect(rows.map(({ action, facts }) => [action, facts.count])).toEqual([['secret:where-used', 187]]);
  });
});
