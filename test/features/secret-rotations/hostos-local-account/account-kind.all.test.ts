import type {
  Credential,
  RotationTarget,
} from '../../../../src/features/rotations/secret-rotations/kind/rotation-kind.js';
import { HostosLocalAccount } from '../../../../src/features/rotations/secret-rotations/kinds/hostos-local-account/local-account.js';
import type { Context } from '../../../../src/kernel/context.js';
import { SealedText } from '../../../../src/kernel/crypto/sealed-text.js';
import { AppError } from '../../../../src/kernel/errors.js';
import { CuttingProxy } from '../../../kit/outside/cutting-proxy.ts';
import { describeWithSamba, newPassword, Samba, type SambaAccount } from '../../../kit/outside/samba.ts';
import { failureOf } from '../../../kit/outside/smb-calls.ts';

const ctx = {} as Context;
const kind = new HostosLocalAccount({ allowPrivateTargets: true });
const METHODS = ['login-as-target', 'login-as-root'] as const;
type Method = (typeof METHODS)[number];

describeWithSamba('rotating a local account', () => {
  let samba: Samba;
  let proxy: CuttingProxy;

  beforeAll(async () => {
    samba = await Samba.start();
    proxy = await CuttingProxy.start(samba.port);
  });
  afterAll(async () => {
    await proxy?.stop();
    await samba?.stop();
  });

  /** A rotation of an account that has this password now. */
  const targetOf = (
    rotationMethod: Method,
    { username, password }: SambaAccount,
    { port = samba.port, admin = samba.admin }: { port?: number; admin?: SambaAccount } = {},
  ): RotationTarget => ({
    rotationId: 'rotation',
    organizationId: 'organization',
    projectId: 'project',
    parameters: { username, rotationMethod },
    connection: {
      app: 'smb',
      host: samba.host,
      port,
      domain: null,
      username: admin.username,
      password: new SealedText(admin.password),
    },
    current: { shown: { username }, secret: new SealedText(password) },
    temporary: null,
  });

  /** Work with an account that no other test has meanwhile. */
  async function withAccount<T>(work: (account: SambaAccount) => Promise<T>): Promise<T> {
    const account = await samba.account();
    try {
      return await work(account);
    } finally {
      await samba.remove(account.username);
    }
  }

  const candidateOf = ({ parameters }: RotationTarget): Credential => kind.candidate(parameters);
  const takes = ({ username }: SambaAccount, { secret }: Credential): Promise<boolean> =>
    samba.takes(username, secret?.reveal() ?? '');

  describe.each(METHODS)('by %s', (method) => {
    test('gives it the candidate, which works from then on, and which the secrets hold', async () => {
      await withAccount(async (account) => {
        const target = targetOf(method, account);
        const candidate = candidateOf(target);
        await kind.check(ctx, target);
        const credential = await kind.apply(ctx, target, candidate);
        await kind.verify(ctx, target, credential);
        const { username, password } = kind.secretsOf(credential);
        expect(username?.reveal()).toBe(account.username);
        expect(await samba.takes(account.username, password?.reveal() ?? '')).toBe(true);
        expect(await samba.takes(account.username, account.password)).toBe(false);
      });
    });

    test('takes a candidate again that has arrived after all', async () => {
      await withAccount(async (account) => {
        const target = targetOf(method, account);
        const candidate = candidateOf(target);
        await kind.apply(ctx, target, candidate);
        expect(await kind.apply(ctx, target, candidate)).toEqual(candidate);
        expect(await takes(account, candidate)).toBe(true);
      });
    });

    test('finds a candidate that has arrived, and one that has not', async () => {
      await withAccount(async (account) => {
        const target = targetOf(method, account);
        const candidate = candidateOf(target);
        expect(await kind.find(ctx, target, candidate)).toEqual({ outcome: 'not-done' });
        await kind.apply(ctx, target, candidate);
        expect(await kind.find(ctx, target, candidate)).toEqual({ outcome: 'done', credential: candidate });
      });
    });

    test('asks for each password once to find out, so that no account is locked', async () => {
      await samba.policy('bad lockout attempt', 5);
      try {
        await withAccount(async (account) => {
          const target = targetOf(method, { ...account, password: newPassword() });
          await kind.find(ctx, target, candidateOf(target));
          expect(await samba.badPasswords(account.username)).toBe(method === 'login-as-target' ? 2 : 1);
        });
      } finally {
        await samba.policy('bad lockout attempt', 0);
      }
    });

    test('cannot find out anything from a server that is away', async () => {
      await withAccount(async (account) => {
        const target = targetOf(method, account, { port: 1 });
        const failure = await failureOf(kind.find(ctx, target, candidateOf(target)));
        expect(failure).toMatchObject({ code: 'TARGET_UNREACHABLE', isTemporary: true });
        expect(await failureOf(kind.apply(ctx, target, candidateOf(target)))).toMatchObject({ certainty: 'unchanged' });
        await failureOf(kind.revoke(ctx, target, target.current as Credential));
      });
    });

    test('knows the password of a disabled account, and of one that must change it', async () => {
      await withAccount(async (account) => {
        const target = targetOf(method, account);
        const held = target.current as Credential;
        await samba.disable(account.username);
        expect(await kind.find(ctx, target, held)).toMatchObject({ outcome: 'done' });
        expect(await failureOf(kind.verify(ctx, target, held))).toMatchObject({ code: 'ACCOUNT_DISABLED' });
        await samba.enable(account.username);
        await samba.mustChange(account.username);
        expect(await kind.find(ctx, target, held)).toMatchObject({ outcome: 'done' });
      });
    });

    test('ends with a credential that is stored, wherever the connection is cut', async () => {
      await withAccount(async (account) => {
        const direct = (password: string): RotationTarget => targetOf(method, { ...account, password });
        const outcomes = new Set<string>();
        let stored = account.password;
        for (let afterSent = 1_000; afterSent <= 4_000; afterSent += 100) {
          const candidate = candidateOf(direct(stored));
          proxy.cut({ afterSent });
          const through = targetOf(method, { ...account, password: stored }, { port: proxy.port });
          const certainty = await kind.apply(ctx, through, candidate).then(
            () => 'changed',
            ({ certainty: reported }) => reported,
          );
          proxy.cut();
          const found = certainty === 'unknown' ? await kind.find(ctx, direct(stored), candidate) : null;
          const isNew = certainty === 'changed' || found?.outcome === 'done';
          if (isNew) stored = candidate.secret?.reveal() ?? '';
          outcomes.add(`${certainty} ${isNew}`);
          expect(found?.outcome).not.toBe('undecided');
          expect({ afterSent, works: await samba.takes(account.username, stored) }).toEqual({ afterSent, works: true });
        }
        // Both sorts of lost answers came about.
        expect([...outcomes]).toEqual(expect.arrayContaining(['unknown true', 'unknown false']));
      });
    });

    test('revokes by a password that nobody keeps, once', async () => {
      await withAccount(async (account) => {
        const target = targetOf(method, account);
        const held = target.current as Credential;
        await kind.revoke(ctx, { ...target, current: null }, held);
        expect(await takes(account, held)).toBe(false);
        // Whoever set another one since keeps it.
        const others = newPassword();
        await samba.setPassword(account.username, others);
        await kind.revoke(ctx, { ...target, current: null }, held);
        expect(await samba.takes(account.username, others)).toBe(true);
      });
    });

    test('revokes where the account may not: it must change its password, or has just changed it', async () => {
      await samba.policy('minimum password age', 600);
      try {
        await withAccount(async (account) => {
          const target = targetOf(method, account);
          await samba.mustChange(account.username);
          await kind.revoke(ctx, target, target.current as Credential);
          await samba.mustChange(account.username, false);
          expect(await takes(account, target.current as Credential)).toBe(false);
        });
      } finally {
        await samba.policy('minimum password age', 0);
      }
    });

    test('does not begin for the account of its own connection', async () => {
      const target = targetOf(method, samba.admin);
      const error = await kind.check(ctx, target).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).details).toMatchObject([{ path: 'content.hostosLocalAccount.parameters.username' }]);
      await failureOf(kind.reset(ctx, target, candidateOf(target)));
      expect(await samba.takes(samba.admin.username, samba.admin.password)).toBe(true);
    });

    test('does not begin with a connection that does not log in', async () => {
      await withAccount(async (account) => {
        const admin = { ...samba.admin, password: newPassword() };
        const failure = await failureOf(kind.check(ctx, targetOf(method, account, { admin })), admin.password);
        expect(failure).toMatchObject({ code: 'CREDENTIALS_REJECTED', certainty: 'unchanged' });
      });
    });
  });

  describe('an account that changes its own password', () => {
    test('begins with the temporary password, which has to log in', async () => {
      await withAccount(async (account) => {
        const { current: _, ...rest } = targetOf('login-as-target', account);
        const target = (temporary: RotationTarget['temporary']): RotationTarget => ({
          ...rest,
          current: null,
          temporary,
        });
        const missing = await kind.check(ctx, target(null)).catch((thrown: unknown) => thrown);
        expect((missing as AppError).details).toMatchObject([
          { path: 'content.hostosLocalAccount.temporaryParameters.password', code: 'MISSING' },
        ]);
        const wrong = target({ password: new SealedText(newPassword()) });
        expect(await failureOf(kind.check(ctx, wrong))).toMatchObject({ code: 'CREDENTIALS_REJECTED' });
        const right = target({ password: new SealedText(account.password) });
        await kind.check(ctx, right);
        const candidate = candidateOf(right);
        expect(await kind.find(ctx, right, candidate)).toEqual({ outcome: 'not-done' });
        await kind.apply(ctx, right, candidate);
        expect(await takes(account, candidate)).toBe(true);
      });
    });

    test('cannot go on after somebody else has changed it, until an administrator resets it', async () => {
      await withAccount(async (account) => {
        const target = targetOf('login-as-target', account);
        const candidate = candidateOf(target);
        await samba.setPassword(account.username, newPassword());
        const failure = await failureOf(kind.apply(ctx, target, candidate));
        expect(failure).toMatchObject({ code: 'CREDENTIALS_REJECTED', certainty: 'unchanged' });
        expect(failure.message).toContain('It may have been changed elsewhere');
        expect(await kind.find(ctx, target, candidate)).toEqual({ outcome: 'undecided' });
        expect(kind.mayReset(target.parameters)).toBe(true);
        await kind.reset(ctx, target, candidate);
        await kind.verify(ctx, target, candidate);
      });
    });

    test('cannot find out anything while it is locked', async () => {
      await samba.policy('bad lockout attempt', 1);
      try {
        await withAccount(async (account) => {
          const target = targetOf('login-as-target', account);
          await samba.takes(account.username, newPassword());
          const failure = await failureOf(kind.find(ctx, target, candidateOf(target)));
          expect(failure).toMatchObject({ code: 'ACCOUNT_LOCKED', isTemporary: true });
        });
      } finally {
        await samba.policy('bad lockout attempt', 0);
      }
    });

    test('keeps the old password when the new one breaks the policy', async () => {
      await samba.policy('min password length', 60);
      try {
        await withAccount(async (account) => {
          const target = targetOf('login-as-target', account);
          const failure = await failureOf(kind.apply(ctx, target, candidateOf(target)));
          expect(failure).toMatchObject({ code: 'PASSWORD_POLICY', certainty: 'unchanged' });
          expect(await samba.takes(account.username, account.password)).toBe(true);
        });
      } finally {
        await samba.policy('min password length', 5);
      }
    });
  });

  describe('an account whose password is reset', () => {
    test('has the candidate, also after somebody else has changed it, when it is locked, or when it is disabled', async () => {
      await samba.policy('bad lockout attempt', 1);
      try {
        await withAccount(async (account) => {
          const target = targetOf('login-as-root', account);
          const candidate = candidateOf(target);
          await samba.setPassword(account.username, newPassword());
          await samba.takes(account.username, newPassword());
          expect(await kind.find(ctx, target, candidate)).toEqual({ outcome: 'not-done' });
          await kind.apply(ctx, target, candidate);
          expect(await failureOf(kind.verify(ctx, target, candidate))).toMatchObject({ code: 'ACCOUNT_LOCKED' });
          await samba.unlock(account.username);
          await kind.verify(ctx, target, candidate);
        });
      } finally {
        await samba.policy('bad lockout attempt', 0);
      }
    });

    test('has to exist, and the connection has to be an administrator', async () => {
      await withAccount(async (account) => {
        await withAccount(async (admin) => {
          const unknown = targetOf('login-as-root', { ...account, username: 'nobody_here' });
          expect(await failureOf(kind.apply(ctx, unknown, candidateOf(unknown)))).toMatchObject({
            code: 'TARGET_NOT_FOUND',
            certainty: 'unchanged',
          });
          const weak = targetOf('login-as-root', account, { admin });
          expect(await failureOf(kind.apply(ctx, weak, candidateOf(weak)))).toMatchObject({
            code: 'PERMISSION_MISSING',
            certainty: 'unchanged',
          });
          expect(await samba.takes(account.username, account.password)).toBe(true);
        });
      });
    });
  });

  test('its account and its method cannot change', () => {
    const present = { username: 'backup', rotationMethod: 'login-as-target' };
    expect(kind.changeViolations(present, undefined)).toEqual([]);
    expect(kind.changeViolations(present, { ...present, passwordRequirements: null })).toEqual([]);
    expect(
      kind.changeViolations(present, { username: 'man', rotationMethod: 'login-as-root' }).map(({ path }) => path),
    ).toEqual(['parameters.username', 'parameters.rotationMethod']);
  });
});
