import { mustSucceed, type Reply } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const ENVIRONMENT = 'The environment does not exist, or you cannot see it.';
const FOLDER = 'The folder does not exist, or you cannot see it.';
const PROJECT = 'The project does not exist, or you cannot see it.';
const meant = (message: string, name?: string): string =>
  name === undefined ? message : `${message} Did you mean \`${name}\`?`;

const messageOf = ({ body }: Reply): string => body.message ?? body.errors?.[0]?.message;

async function place() {
  const made = await strongroom.seed.project();
  const { admin, project } = made;
  for (const [path, name] of [
    ['/', 'payments'],
    ['/payments', 'eu'],
    ['/payments', 'us-east'],
    ['/', 'sealed'],
    ['/sealed', 'vault'],
  ] as const)
    mustSucceed(await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', path, name }));
  return made;
}

describe('a misspelt environment', () => {
  test('gets the similar one of the project, wherever it is named', async () => {
    const { admin, project } = await place();
    const at = `projectId=${project.id}&environment=prdo`;
    const input = { projectId: project.id, environment: 'prdo' };
    const replies = [
      await admin.get(`/api/v4/secrets?${at}`),
      await admin.get(`/api/v4/secrets/KEY?${at}`),
      await admin.post('/api/v4/secrets/KEY', { ...input, secretValue: 'x' }),
      await admin.post('/api/v4/secrets/batch', { ...input, secrets: [{ secretKey: 'KEY', secretValue: 'x' }] }),
      await admin.get(`/api/v2/folders?${at}`),
      await admin.post('/api/v2/folders', { ...input, path: '/', name: 'app' }),
      await admin.get(`/api/v1/projects/${project.id}/environments/slug/prdo`),
      await admin.graphql(
        'query ($id: ID!) { compareEnvironments(input: { projectId: $id, environments: ["dev", "prdo"] }) { nodes { verdict } } }',
        { id: project.id },
      ),
      await admin.graphql('query ($id: ID!) { secrets(projectId: $id, environment: "prdo") { nodes { id } } }', {
        id: project.id,
      }),
    ];
    expect(replies.map(messageOf)).toEqual(replies.map(() => meant(ENVIRONMENT, 'prod')));
    expect(replies.every(({ status }) => status === 404)).toBe(true);
  });

  test('of a filter that finds nothing gets the similar one of the searched projects', async () => {
    const { admin, project } = await place();
    mustSucceed(
      await admin.post('/api/v4/secrets/KEY', { projectId: project.id, environment: 'prod', secretValue: 'x' }),
    );
    const queries = [
      'query ($input: SearchSecretsInput!) { searchSecrets(input: $input) { nodes { secret { id } } } }',
      'query ($input: DuplicateValuesInput!) { duplicateValues(input: $input) { nodes { count } } }',
    ];
    const ask = (environments: readonly string[], given: object = {}, who = admin) =>
      Promise.all(queries.map((query) => who.graphql(query, { input: { environments, ...given } })));
    for (const given of [{}, { projectIds: [project.id] }])
      for (const environments of [['prdo'], ['qa', 'production']]) {
        const replies = await ask(environments, given);
        expect(replies.map(messageOf)).toEqual(queries.map(() => meant(ENVIRONMENT, 'prod')));
        for (const reply of replies) expect(reply).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
      }
    // One of them is there, though it has no such secrets; or nothing is like it.
    for (const environments of [['prdo', 'staging'], ['qa']])
      for (const reply of await ask(environments)) mustSucceed(reply);

    const other = await strongroom.seed.projectOf(admin);
    mustSucceed(await admin.post(`/api/v1/projects/${other.id}/environments`, { name: 'Quality', slug: 'quality' }));
    const member = await strongroom.seed.caller(admin, { project: project.id });
    for (const reply of await ask(['qualitiy'], {}, member)) mustSucceed(reply);
    const seen = await strongroom.seed.caller(admin, { project: other.id });
    expect((await ask(['qualitiy'], {}, seen)).map(messageOf)).toEqual(
      queries.map(() => meant(ENVIRONMENT, 'quality')),
    );
  });

  test.each([
    ['production', 'prod'],
    ['stagin', 'staging'],
    ['devel', 'dev'],
    ['qa', undefined],
    ['nothing-like-it', undefined],
  ])('%s gets %s', async (environment, name) => {
    const { admin, project } = await strongroom.seed.project();
    const reply = await admin.graphql(
      'query ($id: ID!, $environment: String!) { environmentBySlug(projectId: $id, slug: $environment) { id } }',
      { id: project.id, environment },
    );
    expect(messageOf(reply)).toBe(meant(ENVIRONMENT, name));
  });

  test('of a project that the caller cannot see gets nothing', async () => {
    const { project } = await strongroom.seed.project();
    const { admin: stranger } = await strongroom.seed.organization();
    const reply = await stranger.get(`/api/v4/secrets?projectId=${project.id}&environment=prdo`);
    expect([reply.status, messageOf(reply)]).toEqual([404, PROJECT]);
  });
});

describe('a misspelt folder', () => {
  test.each([
    ['/paymets', '/payments'],
    ['/paymets/eu', '/payments'],
    ['/payments/eus', '/payments/eu'],
    ['/payments/us-eats/deep', '/payments/us-east'],
    ['/pay', '/payments'],
    ['/nothing', undefined],
    ['/payments/eu/below', undefined],
  ])('%s gets %s', async (path, name) => {
    const { admin, project } = await place();
    const reply = await admin.get(
      `/api/v4/secrets?projectId=${project.id}&environment=dev&secretPath=${encodeURIComponent(path)}`,
    );
    expect([reply.status, messageOf(reply)]).toEqual([404, meant(FOLDER, name)]);
  });

  test('of a batch gets the similar one beside each secret', async () => {
    const { admin, project } = await place();
    const paths = ['/paymets', '/', '/nothing', '/payments/eus'];
    const send = () =>
      admin.post('/api/v4/secrets/batch', {
        projectId: project.id,
        environment: 'dev',
        secrets: paths.map((secretPath, at) => ({ secretKey: `KEY${at}`, secretValue: 'x', secretPath })),
      });
    const reply = await send();
    expect(reply).toBeError(404, 'FOLDER_NOT_FOUND');
    const none = 'is not a folder of the environment';
    expect(reply.body.details.map(({ path, message }: { path: string; message: string }) => [path, message])).toEqual([
      [expect.stringContaining('[0].secretPath'), `${none}; did you mean \`/payments\`?`],
      [expect.stringContaining('[2].secretPath'), none],
      [expect.stringContaining('[3].secretPath'), `${none}; did you mean \`/payments/eu\`?`],
    ]);
    const few = await strongroom.statements(send);
    paths.push(...Array.from({ length: 30 }, (_, at) => `/paymets/${at}`));
    expect((await strongroom.statements(send)).count).toBe(few.count);
  });

  test('gets no folder that the caller may not see', async () => {
    const { admin, project } = await place();
    mustSucceed(
      await admin.post(`/api/v2/workspace/${project.id}/roles`, {
        slug: 'outside',
        name: 'Outside',
        permissions: [
          { subject: 'secrets', action: ['describeSecret', 'readValue'] },
          { subject: 'secret-folders', action: 'read' },
          {
            subject: 'secret-folders',
            action: 'read',
            inverted: true,
            conditions: { secretPath: { $glob: '/sealed' } },
          },
        ],
      }),
    );
    const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['outside'] });
    const message = async (who: typeof caller, path: string) =>
      messageOf(await who.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&secretPath=${path}`));
    expect(await message(admin, '/sealed/vaults')).toBe(meant(FOLDER, '/sealed/vault'));
    expect(await message(caller, '/sealed/vaults')).toBe(meant(FOLDER));
    expect(await message(caller, '/paymets')).toBe(meant(FOLDER, '/payments'));
  });

  test('takes as many statements among many folders', async () => {
    const { admin, project } = await place();
    const ask = () =>
      admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&secretPath=/payments/eus/more`);
    const few = await strongroom.statements(ask);
    for (let at = 0; at < 40; at += 1)
      mustSucceed(
        await admin.post('/api/v2/folders', {
          projectId: project.id,
          environment: 'dev',
          path: '/payments',
          name: `f${at}`,
        }),
      );
    const many = await strongroom.statements(ask);
    expect(messageOf(many.result)).toBe(meant(FOLDER, '/payments/eu'));
    expect(many.count).toBe(few.count);
  });
});

describe('a misspelt slug of a project', () => {
  test('gets that of a project that the caller can see, and of no other', async () => {
    const { admin } = await strongroom.seed.organization();
    const project = await strongroom.seed.projectOf(admin, { slug: 'payments-core' });
    await strongroom.seed.projectOf(admin, { slug: 'payments-cord' });
    const member = await strongroom.seed.caller(admin, { project: project.id });
    const outsider = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const { admin: stranger } = await strongroom.seed.organization();
    const replies = async (who: typeof member, slug: string) => [
      messageOf(await who.get(`/api/v1/projects/slug/${slug}`)),
      messageOf(await who.graphql('query ($slug: String!) { projectBySlug(slug: $slug) { id } }', { slug })),
    ];
    const twice = (name?: string) => [meant(PROJECT, name), meant(PROJECT, name)];
    expect(await replies(member, 'payments-coer')).toEqual(twice('payments-core'));
    expect(await replies(member, 'payments-cord')).toEqual(twice('payments-core'));
    expect(await replies(member, 'payments')).toEqual(twice('payments-core'));
    expect(await replies(member, 'checkout')).toEqual(twice());
    expect(await replies(outsider, 'payments-cor')).toEqual(twice());
    expect(await replies(stranger, 'payments-cor')).toEqual(twice());
  });
});
