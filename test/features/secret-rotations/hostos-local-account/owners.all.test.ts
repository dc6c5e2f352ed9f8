import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.ts';
import { describeWithSamba, Samba, type SambaAccount } from '../../../kit/outside/samba.ts';
import { type Method, RotatingAccounts } from '../../../kit/rotating-accounts.ts';
import { MAKE_DUE } from '../../../kit/schedules.ts';
import { LENIENT, useSharedStrongroom } from '../../../kit/strongroom.ts';
import { until } from '../../../kit/until.ts';
import { detailsOf } from '../../app-connections/kit.ts';

const PATH = '/api/v2/secret-rotations/hostos-local-account';
const SMB = '/api/v1/app-connections/smb';
/** The same server, by other names. */
const HOSTS = ['localhost', 'LOCALHOST', '127.0.0.1'];

describeWithSamba('an account of a real server has one owner', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let samba: Samba;
  let rotating: RotatingAccounts;
  beforeAll(async () => {
    samba = await Samba.start();
  });
  beforeEach(async () => {
    rotating = await RotatingAccounts.start(strongroom, samba);
  });
  afterEach(() => samba?.removeAll());
  afterAll(() => samba?.stop());

  const postConnection = (credentials: object, admin: Caller = rotating.admin): Promise<Reply> =>
    admin.post(SMB, {
      ...{ name: `server-${randomUUID().slice(0, 8)}`, method: 'credentials' },
      credentials: { host: samba.host, port: samba.port, ...samba.admin, ...credentials },
    });
  const connect = async (credentials: object): Promise<string> =>
    mustSucceed(await postConnection(credentials)).body.appConnection.id;
  /** A rotation of the same account under a name of one's own, with the account's password where that is needed. */
  const post = (method: Method, account: SambaAccount, changes: object = {}): Promise<Reply> =>
    rotating.post(rotating.body(method, account, changes));
  const digestOf = async (id: string): Promise<Buffer | null> => {
    const [row] = await strongroom.sql<{ digest: Buffer | null }>(
      'select account_digest as digest from secret_rotation where id = $1',
      [id],
    );
    return row?.digest ?? null;
  };

  test.each<Method>(['login-as-target', 'login-as-root'])('%s: by whatever name it is reached', async (method) => {
    const account = await samba.account();
    const connections = await Promise.all(HOSTS.map((host) => connect({ host })));
    const upper = { ...account, username: account.username.toUpperCase() };
    const bodies = (changes: object = {}) =>
      [account, upper].flatMap((spelled) =>
        connections.map((connectionId) => rotating.body(method, spelled, { connectionId, ...changes })),
      );
    const many = Array.from({ length: 2 }, () => bodies()).flat();
    const replies = await Promise.all(many.map((body) => rotating.post(body)));
    // A busy machine refuses some, and does not wait for the end of what it has begun.
    for (const reply of replies.filter(({ status }) => status !== 200 && status < 500))
      expect(reply).toBeError(409, 'ACCOUNT_ROTATED');
    await rotating.settled();
    const { secretRotations } = mustSucceed(await rotating.admin.get(`${PATH}?projectId=${rotating.project.id}`)).body;
    expect(secretRotations).toHaveLength(1);
    const made = await rotating.get(secretRotations[0].id);
    expect(await rotating.works(made)).toBe(true);
    const password = await rotating.secret(made.passwordKey);
    for (const body of bodies({ temporaryParameters: { password } })) {
      const refused = await rotating.post(body);
      expect(refused).toBeError(409, 'ACCOUNT_ROTATED');
      expect(detailsOf(refused)).toEqual([`rotations.${made.id} ACCOUNT_ROTATED`]);
    }
    expect(await rotating.works(made)).toBe(true);
    mustSucceed(await rotating.rotate(made.id));
    // It is free again with its rotation.
    mustSucceed(await rotating.delete(made.id));
    mustSucceed(await post('login-as-root', upper));
  });

  test('is not adopted from another rotation, and not by a rotation of its connection', async () => {
    const account = await samba.account();
    const made = await rotating.create('login-as-root', account);
    const password = await rotating.secret(made.passwordKey);
    const adopt = { adopt: true, temporaryParameters: { password } };
    expect(await post('login-as-root', account, adopt)).toBeError(409, 'ACCOUNT_ROTATED');
    expect(await post('login-as-target', account, adopt)).toBeError(409, 'ACCOUNT_ROTATED');
    const spelled = { username: samba.admin.username.toUpperCase(), password: samba.admin.password };
    const connectionId = await connect({ domain: 'LABGRP' });
    const own = { adopt: true, connectionId, temporaryParameters: { password: samba.admin.password } };
    expect(await post('login-as-root', spelled, own)).toBeError(422, 'VALIDATION_FAILED');
    expect(await rotating.works(made)).toBe(true);
    mustSucceed(await rotating.delete(made.id));
    const { id } = mustSucceed(await post('login-as-target', account, adopt)).body.secretRotation;
    const adopted = await rotating.get(id);
    expect(await rotating.secret(adopted.passwordKey)).toBe(password);
    mustSucceed(await rotating.rotate(id));
    expect(await rotating.works(adopted)).toBe(true);
  });

  test('is not rotated if a connection logs in to it, and no connection may while it is rotated', async () => {
    const account = await samba.account();
    const spelled = { host: 'localhost', domain: 'ELSEWHERE', username: account.username.toUpperCase() };
    const id = await connect({ ...spelled, password: account.password });
    const refused = await post('login-as-root', account);
    expect(refused).toBeError(409, 'ACCOUNT_OF_CONNECTION');
    expect(detailsOf(refused)).toEqual([`connections.${id} ACCOUNT_OF_CONNECTION`]);
    expect(await samba.takes(account.username, account.password)).toBe(true);
    mustSucceed(
      await rotating.admin.patch(`${SMB}/${id}`, { credentials: { host: 'localhost', ...samba.admin, domain: null } }),
    );
    const made = await rotating.create('login-as-root', account);
    const password = await rotating.secret(made.passwordKey);
    const updated = await rotating.admin.patch(`${SMB}/${id}`, { credentials: { ...spelled, password } });
    expect(updated).toBeError(409, 'ACCOUNT_ROTATED');
    expect(detailsOf(updated)).toEqual([`rotations.${made.id} ACCOUNT_ROTATED`]);
    expect(await postConnection({ ...spelled, password })).toBeError(409, 'ACCOUNT_ROTATED');
    mustSucceed(await rotating.rotate(made.id));
    expect(await rotating.works(made)).toBe(true);
    mustSucceed(await rotating.admin.post(`${SMB}/${id}/check`, undefined));
  });

  test('in each organization, which learns nothing of others', async () => {
    const account = await samba.account();
    const other = await RotatingAccounts.start(strongroom, samba);
    const [mine, theirs] = [
      await rotating.create('login-as-root', account),
      await other.create('login-as-root', account),
    ];
    expect(await digestOf(mine.id)).not.toEqual(await digestOf(theirs.id));
    mustSucceed(await postConnection({}, other.admin));
    mustSucceed(await rotating.rotate(mine.id));
    expect(await rotating.works(mine)).toBe(true);
  });

  test('in each server, also where servers have the same name', async () => {
    const [account, twin] = [await samba.account(), await Samba.start()];
    try {
      await twin.setPassword(account.username, account.password);
      const made = await rotating.create('login-as-root', account);
      const connectionId = await connect({ port: twin.port, ...twin.admin });
      mustSucceed(await post('login-as-root', account, { connectionId }));
      mustSucceed(await rotating.rotate(made.id));
      expect(await rotating.works(made)).toBe(true);
    } finally {
      await twin.stop();
    }
  });

  test('is named to those who may read its rotation, and counted for others', async () => {
    const account = await samba.account();
    const made = await rotating.create('login-as-root', account);
    const elsewhere = await strongroom.seed.projectOf(rotating.admin);
    const maker = await strongroom.seed.caller(rotating.admin, {
      project: elsewhere.id,
      projectRoles: ['admin'],
      organizationRole: 'admin',
    });
    const connectionId = await connect({ host: 'localhost' });
    const body = rotating.body('login-as-root', account, { projectId: elsewhere.id, connectionId });
    const refused = await maker.post(PATH, body);
    expect(refused).toBeError(409, 'ACCOUNT_ROTATED');
    expect(refused.body.details).toEqual([
      { path: 'rotations', code: 'ACCOUNT_ROTATED', message: 'owned by rotations that you cannot read: 1' },
    ]);
    expect(refused.text).not.toContain(made.id);
  });

  test('rotations that do not know theirs learn it within an hour, and one of two is paused', async () => {
    const account = await samba.account();
    const known = async (id: string) => {
      const [row] = await strongroom.sql<{ digest: Buffer | null; reason: string | null }>(
        'select account_digest as digest, pause_reason as reason from secret_rotation where id = $1',
        [id],
      );
      return row;
    };
    const first = await rotating.create('login-as-root', account);
    const before = await known(first.id);
    await strongroom.sql('update secret_rotation set account_digest = null where id = $1', [first.id]);
    const second = mustSucceed(await post('login-as-root', account)).body.secretRotation;
    await strongroom.sql('update secret_rotation set account_digest = null where id = $1', [second.id]);
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-unknown-accounts']);
    const both = await until('both to be known', 60_000, async () => {
      const rows = [await known(first.id), await known(second.id)];
      return rows.every((row) => row?.digest != null || row?.reason != null) && rows;
    });
    const [owner, other] = both[0]?.digest === null ? [second, first] : [first, second];
    expect(both).toContainEqual({ digest: before?.digest, reason: null });
    expect(both).toContainEqual({ digest: null, reason: 'ACCOUNT_ROTATED' });
    expect(await post('login-as-root', account)).toBeError(409, 'ACCOUNT_ROTATED');
    mustSucceed(await rotating.rotate(owner.id));
    expect(await rotating.rotate(other.id)).toBeError(409, 'ACCOUNT_ROTATED');
    mustSucceed(await rotating.delete(owner.id));
    mustSucceed(await rotating.rotate(other.id));
    expect(await known(other.id)).toMatchObject({ digest: before?.digest, reason: null });
  });

  test('a rotation that does not know its account learns it, and stops with a notice if another one owns it', async () => {
    const account = await samba.account();
    const first = await rotating.create('login-as-root', account);
    const known = await digestOf(first.id);
    const forget = (id: string) =>
      strongroom.sql('update secret_rotation set account_digest = null where id = $1', [id]);
    await forget(first.id);
    const connectionId = await connect({ host: 'localhost' });
    const second = mustSucceed(await post('login-as-root', account, { connectionId })).body.secretRotation;
    await forget(second.id);
    mustSucceed(await rotating.rotate(first.id));
    expect(await digestOf(first.id)).toEqual(known);
    expect(await rotating.rotate(second.id)).toBeError(409, 'ACCOUNT_ROTATED');
    expect(await rotating.works(first)).toBe(true);
    expect(await rotating.get(second.id)).toMatchObject({ rotationStatus: 'failed', nextRotationAt: null });
    expect((await rotating.get(second.id)).lastRotationMessage).toContain('Delete one of the two');
    const [row] = await strongroom.sql('select pause_reason as reason from secret_rotation where id = $1', [second.id]);
    expect(row).toEqual({ reason: 'ACCOUNT_ROTATED' });
    mustSucceed(await rotating.delete(first.id));
    mustSucceed(await rotating.rotate(second.id));
    expect(await digestOf(second.id)).toEqual(known);
    expect(await rotating.works(await rotating.get(second.id))).toBe(true);
  });
});
