import { InfisicalSDK, SecretType } from '@infisical/sdk';
import { makeClient } from '../features/access/scenario.js';
import { Caller, useSharedStrongroom } from '../kit/strongroom.js';

/** Whoever uses the published client does not notice that it is us who answer. Nothing of it is changed or stood in for. */
describe('a session of the published Node client', () => {
  const strongroom = useSharedStrongroom();

  /** A machine that may make projects, logged in with its client id and client secret. */
  async function logIn() {
    const { admin } = await strongroom.seed.organization();
    const auth = { accessTokenTTL: 600, accessTokenMaxTTL: 3_600 };
    const { clientId, clientSecret, identityId } = await makeClient(admin, { auth });
    await admin.patch(`/api/v1/identities/${identityId}`, { role: 'member' });
    const sdk = new InfisicalSDK({ siteUrl: strongroom.url });
    const client = await sdk.auth().universalAuth.login({ clientId, clientSecret });
    return { admin, client, clientId, clientSecret };
  }

  async function openProject() {
    const { admin, client } = await logIn();
    const project = await client.projects().create({ projectName: 'Web shop', type: 'secret-manager' });
    // What the client has no verb for is done with its token.
    const machine = new Caller(strongroom.url, client.auth().getAccessToken());
    return { admin, machine, client, project, place: { projectId: project.id, environment: 'dev' } };
  }

  test('logs in, renews its token, and takes one that it is given', async () => {
    const { client } = await logIn();
    const token = String(client.auth().getAccessToken());
    expect(token).toMatch(/^srt_/);
    const renewed = await client.auth().universalAuth.renew();
    expect(renewed.auth().getAccessToken()).toBe(token);

    const other = new InfisicalSDK({ siteUrl: `${strongroom.url}/` }).auth().accessToken(token);
    const project = await other.projects().create({
      projectName: 'Shop',
      projectDescription: 'of the town',
      type: 'secret-manager',
      slug: 'town-shop',
    });
    expect(project).toMatchObject({
      name: 'Shop',
      slug: 'town-shop',
      description: 'of the town',
      type: 'secret-manager',
    });
  });

  test('is told what was wrong', async () => {
    const { client, clientId, clientSecret } = await logIn();
    const sdk = new InfisicalSDK({ siteUrl: strongroom.url });
    const wrong = { clientId, clientSecret: `${clientSecret}x` };
    await expect(sdk.auth().universalAuth.login(wrong)).rejects.toThrow(
      /\[StatusCode=401\] The client ID or the client secret is invalid/,
    );
    const options = { projectId: clientId, environment: 'dev', secretName: 'NONE' };
    await expect(client.secrets().getSecret(options)).rejects.toThrow(/\[StatusCode=404\] The project does not exist/);
    const create = client.projects().create({ projectName: '', type: 'none' });
    await expect(create).rejects.toThrow(/\[StatusCode=422\] .*"path":"body\.projectName"/);
  });

  test('makes environments and folders, and lists folders', async () => {
    const { client, project, place } = await openProject();
    const environment = await client
      .environments()
      .create({ projectId: project.id, name: 'Preview', slug: 'preview', position: 2 });
    expect(environment).toMatchObject({ name: 'Preview', slug: 'preview', position: 2, projectId: project.id });

    const preview = { projectId: project.id, environment: 'preview' };
    const folder = await client.folders().create({ ...preview, name: 'app', path: '/', description: 'of the shop' });
    await client.folders().create({ ...preview, name: 'inner', path: '/app' });

    expect(folder).toMatchObject({ name: 'app', envId: environment.id, description: 'of the shop', version: 1 });
    expect(await client.folders().listFolders(preview)).toEqual([folder]);
    expect(await client.folders().listFolders({ ...preview, path: '/app' })).toMatchObject([
      { name: 'inner', parentId: folder.id },
    ]);
    const all = await client.folders().listFolders({ ...preview, recursive: true });
    expect(all.map(({ name }) => name)).toEqual(['app', 'inner']);
    expect(await client.folders().listFolders(place)).toEqual([]);
  });

  test('creates, reads, lists, changes and deletes secrets', async () => {
    const { client, place } = await openProject();
    const secrets = client.secrets();

    const { secret } = await secrets.createSecret('DB_PASSWORD', {
      ...place,
      secretValue: 'correct "horse"\n#1 ä',
      secretComment: 'of the shop',
      secretPath: '/',
      secretReminderNote: 'ask Ann',
      secretReminderRepeatDays: 30,
      skipMultilineEncoding: true,
    });
    expect(secret).toMatchObject({ secretKey: 'DB_PASSWORD', version: 1, type: 'shared', secretPath: '/' });
    expect(await secrets.getSecret({ ...place, secretName: 'DB_PASSWORD' })).toEqual(secret);
    expect(secret).toMatchObject({
      secretValue: 'correct "horse"\n#1 ä',
      secretComment: 'of the shop',
      secretReminderNote: 'ask Ann',
      secretReminderRepeatDays: 30,
      skipMultilineEncoding: true,
      secretValueHidden: false,
    });

    const changed = await secrets.updateSecret('DB_PASSWORD', {
      ...place,
      secretValue: 'battery staple',
      newSecretName: 'DB_PASS',
      metadata: { source: 'a program' },
    });
    expect(changed.secret).toMatchObject({
      id: secret.id,
      secretKey: 'DB_PASS',
      version: 2,
      secretComment: 'of the shop',
    });
    await secrets.createSecret('API_KEY', { ...place, secretValue: 'k' });
    expect((await secrets.listSecrets(place)).secrets).toMatchObject([
      { secretKey: 'API_KEY', secretValue: 'k' },
      { secretKey: 'DB_PASS', secretValue: 'battery staple' },
    ]);
    const hidden = await secrets.listSecrets({ ...place, viewSecretValue: false });
    expect(hidden.secrets.map(({ secretValue, secretValueHidden }) => [secretValue, secretValueHidden])).toEqual([
      ['<hidden>', true],
      ['<hidden>', true],
    ]);

    expect((await secrets.deleteSecret('DB_PASS', place)).secret).toMatchObject({ id: secret.id, version: 2 });
    await expect(secrets.getSecret({ ...place, secretName: 'DB_PASS' })).rejects.toThrow('[StatusCode=404]');
    expect((await secrets.listSecrets(place)).secrets).toMatchObject([{ secretKey: 'API_KEY' }]);
  });

  test('reads an earlier version, and hides a value', async () => {
    const { client, place } = await openProject();
    const secrets = client.secrets();
    const { secret } = await secrets.createSecret('KEY', { ...place, secretValue: 'first' });
    await secrets.updateSecret('KEY', { ...place, secretValue: 'second' });

    const read = (options: object) => secrets.getSecret({ ...place, secretName: 'KEY', ...options });
    expect(await read({})).toMatchObject({ id: secret.id, version: 2, secretValue: 'second' });
    expect(await read({ version: 1 })).toMatchObject({ version: 1, secretValue: 'first' });
    expect(await read({ viewSecretValue: false })).toMatchObject({ secretValue: '<hidden>', secretValueHidden: true });
    await expect(read({ version: 3 })).rejects.toThrow('[StatusCode=404]');
  });

  test('makes a project from a template', async () => {
    const { admin, client } = await logIn();
    const environments = [{ name: 'Only', slug: 'only', position: 1 }];
    await admin.post('/api/v1/project-templates', { name: 'single', type: 'secret-manager', environments });
    const project = await client.projects().create({
      projectName: 'Web shop',
      type: 'secret-manager',
      template: 'single',
    });
    const options = { projectId: project.id, environment: 'only', secretValue: 'v' };
    expect((await client.secrets().createSecret('KEY', options)).secret).toMatchObject({ environment: 'only' });
    await expect(client.secrets().listSecrets({ ...options, environment: 'dev' })).rejects.toThrow('[StatusCode=404]');
  });

  test('reads what is referred to, imported, below, or tagged', async () => {
    const { machine, client, project, place } = await openProject();
    const secrets = client.secrets();
    const { tag } = (await machine.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: '#aa0000' })).body;
    for (const name of ['app', 'shared']) await client.folders().create({ ...place, name, path: '/' });
    const [app, shared] = [
      { ...place, secretPath: '/app' },
      { ...place, secretPath: '/shared' },
    ];
    await secrets.createSecret('HOST', { ...shared, secretValue: 'db.local' });
    await secrets.createSecret('URL', { ...app, secretValue: 'pg://${dev.shared.HOST}', tagIds: [tag.id] });
    await machine.post('/api/v1/secret-imports', {
      workspaceId: project.id,
      environment: 'dev',
      path: '/app',
      import: { environment: 'dev', path: '/shared' },
    });

    const values = ({ secrets: list }: { secrets: { secretKey: string; secretValue: string }[] }) =>
      list.map(({ secretKey, secretValue }) => [secretKey, secretValue]);
    const url = ['URL', 'pg://db.local'];
    const host = ['HOST', 'db.local'];
    expect(values(await secrets.listSecrets(app))).toEqual([url]);
    expect(values(await secrets.listSecrets({ ...app, expandSecretReferences: false }))).toEqual([
      ['URL', 'pg://${dev.shared.HOST}'],
    ]);
    expect(values(await secrets.listSecrets({ ...place, recursive: true }))).toEqual([url, host]);
    expect(values(await secrets.listSecrets({ ...place, recursive: true, tagSlugs: ['db'] }))).toEqual([url]);
    expect(values({ secrets: await secrets.listSecretsWithImports(app) })).toEqual([url, host]);
    const { imports } = await secrets.listSecrets({ ...app, includeImports: true });
    expect(imports).toMatchObject([{ secretPath: '/shared', environment: 'dev', secrets: [{ secretKey: 'HOST' }] }]);
    expect(await secrets.getSecret({ ...app, secretName: 'HOST', includeImports: true })).toMatchObject({
      secretValue: 'db.local',
    });
    await expect(secrets.getSecret({ ...app, secretName: 'HOST' })).rejects.toThrow('[StatusCode=404]');
    await secrets.listSecrets({ ...app, includeImports: true, attachToProcessEnv: true });
    expect([process.env.URL, process.env.HOST]).toEqual(['pg://db.local', 'db.local']);
  });

  test('invites people of the organization by name', async () => {
    const { admin, client, project } = await openProject();
    for (const username of ['ann', 'bob@example.com', 'cid']) {
      await admin.data('mutation ($u: String!) { createUser(input: { username: $u }) { user { id } } }', {
        u: username,
      });
    }
    const invite = (options: object) => client.projects().inviteMembers({ projectId: project.id, ...options });

    const made = await invite({ usernames: ['ann'], emails: ['bob@example.com'], roleSlugs: ['viewer'] });

    expect(made).toMatchObject([
      { projectId: project.id, username: 'ann', roles: [{ role: 'viewer' }] },
      { projectId: project.id, username: 'bob@example.com', roles: [{ role: 'viewer' }] },
    ]);
    expect(await invite({ usernames: ['cid'] })).toMatchObject([{ username: 'cid', roles: [{ role: 'member' }] }]);
    await expect(invite({ usernames: ['ann'] })).rejects.toThrow('[StatusCode=409]');
    await expect(invite({ usernames: ['dan'] })).rejects.toThrow('[StatusCode=404]');
  });

  test('has own values of a person in place of shared ones', async () => {
    const { admin, machine, project, client, place } = await openProject();
    await client.secrets().createSecret('COLOR', { ...place, secretValue: 'grey' });
    const sdk = new InfisicalSDK({ siteUrl: strongroom.url });
    const person = sdk
      .auth()
      .accessToken(await makePerson(admin, machine, project.id))
      .secrets();

    const own = { ...place, type: SecretType.Personal };
    const { secret } = await person.createSecret('COLOR', { ...own, secretValue: 'red' });

    expect(secret).toMatchObject({ secretKey: 'COLOR', secretValue: 'red', type: 'personal' });
    expect((await person.listSecrets(place)).secrets.map(({ type, secretValue }) => [type, secretValue])).toEqual([
      ['shared', 'grey'],
      ['personal', 'red'],
    ]);
    expect((await person.updateSecret('COLOR', { ...own, secretValue: 'blue' })).secret.secretValue).toBe('blue');
    expect((await person.getSecret({ ...own, secretName: 'COLOR' })).secretValue).toBe('blue');
    await person.deleteSecret('COLOR', own);
    expect((await client.secrets().listSecrets(place)).secrets).toMatchObject([{ secretValue: 'grey' }]);
    await expect(client.secrets().createSecret('COLOR', { ...own, secretValue: 'x' })).rejects.toThrow(
      '[StatusCode=422]',
    );
  });
});

/** A member of the project that is a person; answers its token. */
async function makePerson(admin: Caller, machine: Caller, projectId: string): Promise<string> {
  const { createUser } = await admin.data('mutation { createUser(input: { username: "ann" }) { user { id } } }');
  const userId = createUser.user.id;
  // Before it joins: the admin may do nothing in the project.
  const { createPersonalAccessToken } = await admin.data(
    'mutation ($userId: ID!) { createPersonalAccessToken(input: { userId: $userId }) { accessToken } }',
    { userId },
  );
  await machine.post(`/api/v1/projects/${projectId}/memberships`, { userId, role: 'member' });
  return createPersonalAccessToken.accessToken;
}
