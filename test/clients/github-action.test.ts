import { makeClient } from '../features/access/scenario.js';
import { Caller, mustSucceed, type Reply } from '../kit/caller.js';
import { useSharedStrongroom } from '../kit/strongroom.js';

const LOGIN = '/api/v1/auth/universal-auth/login';
const FORM = 'application/x-www-form-urlencoded';

describe('the GitHub action', () => {
  const strongroom = useSharedStrongroom();
  const form = (fields: string | Record<string, string>, type = FORM, path = LOGIN): Promise<Reply> =>
    strongroom.admin.anonymous.request({
      method: 'POST',
      path,
      rawBody: String(typeof fields === 'string' ? fields : new URLSearchParams(fields)),
      headers: { 'content-type': type },
    });

  test('logs in with a form, and reads the secrets of a project that it names by its slug', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { identityId, clientId, clientSecret } = await makeClient(admin);
    const member = `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;
    mustSucceed(await admin.post(member, { role: 'viewer' }));
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    const { accessToken } = mustSucceed(await form({ clientId, clientSecret })).body;
    const query = new URLSearchParams({
      ...{ secretPath: '/', environment: 'dev', include_imports: 'true', recursive: 'false' },
      ...{ workspaceSlug: project.slug, expandSecretReferences: 'true' },
    });
    const { secrets, imports } = mustSucceed(
      await new Caller(strongroom.url, accessToken).get(`/api/v3/secrets/raw?${query}`),
    ).body;
    expect(secrets).toMatchObject([{ secretKey: 'KEY_00000', secretValue: 'value-0' }]);
    expect(imports).toEqual([]);
  });

  test('is refused as with JSON: for wrong, missing and misspelt fields', async () => {
    const { admin } = await strongroom.seed.organization();
    const { clientId, clientSecret } = await makeClient(admin);
    expect(await form({ clientId, clientSecret: 'x' })).toBeError(401, 'CREDENTIALS_INVALID');
    expect(await form({ clientId, clientSecret }, `${FORM}; charset=utf-8`)).toMatchObject({ status: 200 });
    expect(await form(`clientId=${clientId}&clientSecret=x&clientSecret=${clientSecret}`)).toMatchObject({
      status: 200,
    });
    const violations = ({ body }: Reply) =>
      (body.details as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`);
    expect(violations(await form({ clientId }))).toEqual(['body.clientSecret MISSING']);
    expect(violations(await form({ clientId, clientSecrets: clientSecret }))).toEqual([
      'body.clientSecret MISSING',
      'body UNKNOWN_KEY',
    ]);
    expect(violations(await form('__proto__=x'))).toEqual([
      'body.clientId MISSING',
      'body.clientSecret MISSING',
      'body UNKNOWN_KEY',
    ]);
    expect(await form('x'.repeat(16 * 1024 + 1))).toBeError(413, 'BODY_TOO_LARGE');
  });

  test.each([
    ['another charset', LOGIN, `${FORM}; charset=latin1`],
    ['several parts', LOGIN, 'multipart/form-data; boundary=x'],
    ['a form elsewhere', '/api/v1/auth/token/renew', FORM],
  ])('sends no body of %s', async (_, path, type) => {
    expect(await form({ accessToken: 'x' }, type, path)).toBeError(415, 'UNSUPPORTED_MEDIA_TYPE');
  });
});
