import { mustSucceed } from '../../../kit/caller.ts';
import { CuttingProxy } from '../../../kit/outside/cutting-proxy.ts';
import { describeWithSamba, newPassword, Samba } from '../../../kit/outside/samba.ts';
import { type Method, RotatingAccounts } from '../../../kit/rotating-accounts.ts';
import { LENIENT, useSharedStrongroom } from '../../../kit/strongroom.ts';
import { until } from '../../../kit/until.ts';

const METHODS = ['login-as-target', 'login-as-root'] as const satisfies Method[];

describeWithSamba('a rotation of a local account of a real server', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let samba: Samba;
  let proxy: CuttingProxy;
  let rotating: RotatingAccounts;
  beforeAll(async () => {
    samba = await Samba.start();
    proxy = await CuttingProxy.start(samba.port);
    rotating = await RotatingAccounts.start(strongroom, samba);
  });
  afterEach(async () => {
    await pause(false);
    await samba?.removeAll();
  });
  afterAll(async () => {
    await proxy?.stop();
    await samba?.stop();
  });

  const pause = async (isPaused: boolean): Promise<void> => {
    await strongroom.sql(`update job_kind set is_paused = $1 where name = 'secret-rotations:rotate'`, [isPaused]);
  };

  /**
   * A rotation whose change was asked for and never answered, as after a crash during the call. What it asks to find out does not
   * arrive either: what it finds would otherwise depend on whether a test is faster.
   *
   * @returns the id of its attempt
   */
  const callWithoutOutcome = async (through: RotatingAccounts, rotationId: string): Promise<string> => {
    await pause(true);
    const { rotateSecrets } = await through.admin.data(
      'mutation ($input: RotateSecretsInput!) { rotateSecrets(input: $input) { attempt { attemptId } } }',
      { input: { id: rotationId, wait: false } },
    );
    const { attemptId } = rotateSecrets.attempt;
    await strongroom.sql(
      `update secret_rotation_attempt set state = 'calling', calls = 1, called_at = now() - interval '1 hour' where id = $1`,
      [attemptId],
    );
    proxy.cut({ afterSent: 100 });
    await pause(false);
    await until('it to be looked for in vain', 30_000, async () => {
      await through.hurry();
      const [row] = await strongroom.sql('select tries from secret_rotation_attempt where id = $1', [attemptId]);
      return Number(row?.tries) > 0;
    });
    return attemptId;
  };

  describe.each(METHODS)('by %s', (method) => {
    test('replaces the password when it is made, and when it is asked to', async () => {
      const account = await samba.account();
      const made = await rotating.create(method, account);
      expect(made).toMatchObject({
        rotationStatus: 'success',
        type: 'hostos-local-account',
        activeIndex: 0,
        connection: { app: 'smb' },
        parameters: { username: account.username, rotationMethod: method },
      });
      const first = await rotating.secret(made.passwordKey);
      expect(await rotating.works(made)).toBe(true);
      expect(await samba.takes(account.username, account.password)).toBe(false);

      const { secretRotation } = mustSucceed(await rotating.rotate(made.id)).body;
      expect(secretRotation).toMatchObject({ rotationStatus: 'success', activeIndex: 1, isLastRotationManual: true });
      expect(await rotating.works(made)).toBe(true);
      expect(await samba.takes(account.username, first)).toBe(false);
    });

    test('keeps to what is required of passwords', async () => {
      const account = await samba.account();
      const required = { lowercase: 2, uppercase: 2, digits: 2, symbols: 2 };
      const passwordRequirements = { length: 20, required, allowedSymbols: `"'\\;` };
      const parameters = { username: account.username, rotationMethod: method, passwordRequirements };
      const made = await rotating.create(method, account, { parameters });
      expect(made).toMatchObject({ parameters });
      expect(await rotating.secret(made.passwordKey)).toMatch(/^[A-Za-z0-9"'\\;]{20}$/);
      expect(await rotating.works(made)).toBe(true);
    });

    test('is gone with the password that it made, if that is asked for', async () => {
      const account = await samba.account();
      const made = await rotating.create(method, account);
      const last = await rotating.secret(made.passwordKey);
      mustSucceed(await rotating.delete(made.id, '?revokeGeneratedCredentials=true'));
      expect(await samba.takes(account.username, last)).toBe(false);
      // It stays, as an ordinary secret.
      expect(await rotating.secret(made.passwordKey)).toBe(last);
    });

    test('ends with a secret that logs in, when the answer of the server is lost', async () => {
      const account = await samba.account();
      const through = await RotatingAccounts.start(strongroom, samba, proxy.port);
      const made = await through.create(method, account);
      for (let afterSent = 1_500; afterSent <= 3_500; afterSent += 500) {
        proxy.cut({ afterSent, connection: 0 });
        expect([200, 502]).toContain((await through.rotate(made.id)).status);
        proxy.cut();
        await through.settled();
        const { rotationStatus } = await through.get(made.id);
        expect({ afterSent, rotationStatus, works: await through.works(made) }).toMatchObject({
          afterSent,
          rotationStatus: expect.stringMatching(/^(success|failed)$/),
          works: true,
        });
      }
      proxy.cut();
      expect(mustSucceed(await through.rotate(made.id)).body.secretRotation.rotationStatus).toBe('success');
    });

    test('is given up when its server never comes back to tell what came of a call', async () => {
      const account = await samba.account();
      const through = await RotatingAccounts.start(strongroom, samba, proxy.port);
      const made = await through.create(method, account);
      const attemptId = await callWithoutOutcome(through, made.id);
      const { cancelSecretRotationAttempt } = await through.admin.data(
        'mutation ($input: CancelSecretRotationAttemptInput!) { cancelSecretRotationAttempt(input: $input) { attempt { state } } }',
        { input: { attemptId } },
      );
      expect(cancelSecretRotationAttempt.attempt).toEqual({ state: 'UNDECIDED' });
      expect(await through.get(made.id)).toMatchObject({ rotationStatus: 'needs_reconciliation' });
      proxy.cut();
      mustSucceed(await through.reconcile(made.id));
      expect(await through.works(made)).toBe(true);
      mustSucceed(await through.delete(made.id));
    });

    test('tells of a server that is away, and changes nothing', async () => {
      const account = await samba.account();
      const away = await CuttingProxy.start(samba.port);
      const through = await RotatingAccounts.start(strongroom, samba, away.port);
      const made = await through.create(method, account);
      await away.stop();
      expect(await through.rotate(made.id)).toBeError(502, 'UPSTREAM_UNREACHABLE');
      expect(await through.get(made.id)).toMatchObject({
        rotationStatus: 'failed',
        lastRotationMessage: expect.stringContaining('NT_STATUS_CONNECTION_REFUSED'),
      });
      expect(await through.works(made)).toBe(true);
    });
  });

  describe('whose account changes its own password', () => {
    test('needs a reconciliation when somebody else has changed it in the middle', async () => {
      const account = await samba.account();
      const through = await RotatingAccounts.start(strongroom, samba, proxy.port);
      const made = await through.create('login-as-target', account);
      await callWithoutOutcome(through, made.id);
      await samba.setPassword(account.username, newPassword());
      proxy.cut();
      await through.settled();
      expect(await through.get(made.id)).toMatchObject({
        rotationStatus: 'needs_reconciliation',
        lastRotationMessage: expect.stringContaining('Reconcile'),
      });
      expect(await through.rotate(made.id)).toBeError(409, 'ROTATION_UNDECIDED');

      // A reconciliation that fails has decided nothing: no run by itself tries a password that may be wrong.
      const { username, password } = samba.admin;
      await samba.setPassword(username, newPassword());
      expect(await through.reconcile(made.id)).toBeError(502, 'UPSTREAM_REJECTED');
      expect(await through.get(made.id)).toMatchObject({
        rotationStatus: 'needs_reconciliation',
        nextRotationAt: null,
      });
      await samba.setPassword(username, password);

      const { reconciled, secretRotation } = mustSucceed(await through.reconcile(made.id)).body;
      expect({ reconciled, secretRotation }).toMatchObject({
        reconciled: true,
        secretRotation: { rotationStatus: 'success' },
      });
      expect(await through.works(made)).toBe(true);
      expect(mustSucceed(await through.rotate(made.id)).body.secretRotation.rotationStatus).toBe('success');
    });

    test('fails when somebody else has changed it before, until it is reconciled', async () => {
      const account = await samba.account();
      const made = await rotating.create('login-as-target', account);
      await samba.setPassword(account.username, newPassword());
      const reply = await rotating.rotate(made.id);
      expect(reply).toBeError(502, 'UPSTREAM_REJECTED');
      expect((await rotating.get(made.id)).lastRotationMessage).toContain('It may have been changed elsewhere');
      mustSucceed(await rotating.reconcile(made.id));
      expect(await rotating.works(made)).toBe(true);
    });

    test('is not made without the present password, or with a wrong one', async () => {
      const account = await samba.account();
      const missing = await rotating.post(
        rotating.body('login-as-target', account, { temporaryParameters: undefined }),
      );
      expect(missing).toBeError(422, 'VALIDATION_FAILED');
      expect(missing.body.details).toMatchObject([{ path: expect.stringMatching(/temporaryParameters\.password$/) }]);
      const wrong = await rotating.post(rotating.body('login-as-target', { ...account, password: newPassword() }));
      expect(wrong).toBeError(502, 'UPSTREAM_REJECTED');
      expect(await samba.takes(account.username, account.password)).toBe(true);
    });
  });

  test('is not made for an account that is not there, or that its connection uses', async () => {
    const nobody = rotating.body('login-as-root', { username: 'nobody_here', password: newPassword() });
    expect(await rotating.post(nobody)).toBeError(502, 'UPSTREAM_REJECTED');
    const own = await rotating.post(rotating.body('login-as-root', samba.admin));
    expect(own).toBeError(422, 'VALIDATION_FAILED');
    expect(own.body.details).toMatchObject([{ path: expect.stringMatching(/parameters\.username$/) }]);
    expect(await samba.takes(samba.admin.username, samba.admin.password)).toBe(true);
  });

  test('is refused as a reset where it is one already, and cannot change its account or method', async () => {
    const account = await samba.account();
    const made = await rotating.create('login-as-root', account);
    expect((await rotating.reconcile(made.id)).body.code).toBe('ROTATION_NOT_RECONCILABLE');
    const changed = await rotating.patch(made.id, {
      parameters: { username: 'other', rotationMethod: 'login-as-target' },
    });
    expect(changed).toBeError(422, 'VALIDATION_FAILED');
    expect(changed.body.details.map(({ path }: { path: string }) => path)).toEqual([
      expect.stringMatching(/parameters\.username$/),
      expect.stringMatching(/parameters\.rotationMethod$/),
    ]);
  });

  test('changes an account of a server while no other attempt does', async () => {
    const account = await samba.account();
    const through = await RotatingAccounts.start(strongroom, samba, proxy.port);
    proxy.cut();
    const made = await through.create('login-as-root', account);
    const release = proxy.hold();
    const rotated = through.rotate(made.id);
    // The server may be asked by a check of the connection as well.
    await until(
      'the rotation to run',
      30_000,
      async () => (await through.get(made.id)).rotationStatus === 'in_progress',
    );
    expect(await through.rotate(made.id)).toBeError(409, 'ROTATION_RUNNING');
    release();
    expect(mustSucceed(await rotated).body.secretRotation.rotationStatus).toBe('success');
    expect(await through.works(made)).toBe(true);
  });

  test('leaves no password in the log, and none in what is told of failures', async () => {
    const account = await samba.account();
    const made = await rotating.create('login-as-target', account);
    await rotating.secret(made.passwordKey);
    await samba.setPassword(account.username, newPassword());
    const failed = await rotating.rotate(made.id);
    expect(failed.status).toBe(502);
    const attempts = `query ($id: ID!) { secretRotationAttempts(id: $id) { edges { node { state errorCode } } } }`;
    const reported = JSON.stringify([
      failed.body,
      await rotating.admin.graphql(attempts, { id: made.id }),
      await rotating.get(made.id),
    ]);
    for (const password of [account.password, samba.admin.password, ...rotating.seen]) {
      expect(password.length).toBeGreaterThan(10);
      expect(await strongroom.log()).not.toContain(password);
      expect(reported).not.toContain(password);
    }
  });
});
