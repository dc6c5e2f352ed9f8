import { InfisicalSDK } from '@infisical/sdk';
import { useStrongroom } from '../kit/strongroom.js';
import { makeClient } from './access/scenario.js';

/** Whoever uses the published client does not notice that it is us who answer. Nothing of it is changed or stood in for. */
describe('a session of the published Node client', () => {
  const strongroom = useStrongroom();

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
    return { admin, client, project, place: { projectId: project.id, environment: 'dev' } };
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
      /\[StatusCode=401\] The client id or the client secret is not right\./,
    );
    const options = { projectId: clientId, environment: 'dev', secretName: 'NONE', expandSecretReferences: false };
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
    const plain = { ...place, expandSecretReferences: false };
    expect(await secrets.getSecret({ ...plain, secretName: 'DB_PASSWORD' })).toEqual(secret);
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
    expect((await secrets.listSecrets(plain)).secrets).toMatchObject([
      { secretKey: 'API_KEY', secretValue: 'k' },
      { secretKey: 'DB_PASS', secretValue: 'battery staple' },
    ]);
    const hidden = await secrets.listSecrets({ ...plain, viewSecretValue: false });
    expect(hidden.secrets.map(({ secretValue, secretValueHidden }) => [secretValue, secretValueHidden])).toEqual([
      ['<hidden>', true],
      ['<hidden>', true],
    ]);

    expect((await secrets.deleteSecret('DB_PASS', place)).secret).toMatchObject({ id: secret.id, version: 2 });
    await expect(secrets.getSecret({ ...plain, secretName: 'DB_PASS' })).rejects.toThrow('[StatusCode=404]');
    expect((await secrets.listSecrets(plain)).secrets).toMatchObject([{ secretKey: 'API_KEY' }]);
  });
});
