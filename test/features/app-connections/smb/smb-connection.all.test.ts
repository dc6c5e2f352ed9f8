import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../../kit/caller.ts';
import { describeWithSamba, newPassword, Samba } from '../../../kit/outside/samba.ts';
import { LENIENT, useSharedStrongroom } from '../../../kit/strongroom.ts';

const PATH = '/api/v1/app-connections/smb';

describeWithSamba('a connection to a real SMB server', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let samba: Samba;
  let admin: Caller;
  beforeAll(async () => {
    samba = await Samba.start();
    ({ admin } = await strongroom.seed.project());
  });
  afterAll(() => samba?.stop());

  const bodyOf = (credentials: object = {}): object => ({
    name: `server-${randomUUID().slice(0, 8)}`,
    method: 'credentials',
    credentials: { host: samba.host, port: samba.port, ...samba.admin, ...credentials },
  });
  const create = async (credentials: object = {}) =>
    mustSucceed(await admin.post(PATH, bodyOf(credentials))).body.appConnection;

  test('is made once the server has let its account in, and shows all but the password', async () => {
    const made = await create({ domain: 'LABHOST' });
    const shown = { host: samba.host, port: samba.port, domain: 'LABHOST', username: samba.admin.username };
    expect(made).toMatchObject({ app: 'smb', method: 'credentials', credentials: shown });
    const read = await admin.get(`${PATH}/${made.id}`);
    expect(read.body.appConnection.credentials).toEqual(shown);
    expect(read.text).not.toContain(samba.admin.password);
  });

  test('is refused with a wrong password, at a closed port, and by rules', async () => {
    const wrong = newPassword();
    const refused = await admin.post(PATH, bodyOf({ password: wrong }));
    expect(refused).toBeError(502, 'UPSTREAM_REJECTED');
    expect(refused.text).toContain('NT_STATUS_LOGON_FAILURE');
    expect(refused.text).not.toContain(wrong);
    expect(await admin.post(PATH, bodyOf({ port: 1 }))).toBeError(502, 'UPSTREAM_UNREACHABLE');
    expect(await admin.post(PATH, bodyOf({ host: '-U' }))).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.post(PATH, bodyOf({ password: 'a\nb' }))).toBeError(422, 'VALIDATION_FAILED');
  });

  test('takes another password after the server has, and keeps the one before otherwise', async () => {
    const account = await samba.account();
    const made = await create(account);
    const next = newPassword();
    expect(await admin.patch(`${PATH}/${made.id}`, { credentials: { password: next } })).toBeError(
      502,
      'UPSTREAM_REJECTED',
    );
    await samba.setPassword(account.username, next);
    const { appConnection } = mustSucceed(
      await admin.patch(`${PATH}/${made.id}`, { credentials: { password: next } }),
    ).body;
    expect(appConnection.credentialsHash).not.toBe(made.credentialsHash);
    expect(appConnection.credentials).toEqual(made.credentials);
  });
});

describe('a connection where private targets are not allowed', () => {
  const strongroom = useSharedStrongroom();

  test.each(['127.0.0.1', 'localhost', '10.0.0.1', '0x7f.1', '127.1'])('is not made to %s', async (host) => {
    const { admin } = await strongroom.seed.project();
    const credentials = { host, port: 445, username: 'games', password: newPassword() };
    const reply = await admin.post(PATH, { name: 'server', method: 'credentials', credentials });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details).toMatchObject([
      { path: expect.stringMatching(/credentials\.host$/), code: 'PRIVATE_TARGET' },
    ]);
  });
});
