import { readdir, readFile } from 'node:fs/promises';
import { TargetFailure } from '../../../../src/features/rotations/app-connections/kind/target-failure.js';
import { SMB, type SmbAccount, SmbClient } from '../../../../src/features/rotations/app-connections/smb/smb-client.js';
import type { Context } from '../../../../src/kernel/context.js';
import { SealedText } from '../../../../src/kernel/crypto/sealed-text.js';
import type { TargetPolicy } from '../../../../src/kernel/outbound/http.js';
import { CuttingProxy } from '../../../kit/outside/cutting-proxy.ts';
import { describeWithSamba, newPassword, Samba, type SambaAccount } from '../../../kit/outside/samba.ts';
import { accountOf, failureOf } from '../../../kit/outside/smb-calls.ts';
import fc from '../../../kit/properties.ts';

const ctx = {} as Context;
const PRIVATE: TargetPolicy = { allowPrivateTargets: true };

describeWithSamba('an SMB server', () => {
  let samba: Samba;
  let client: SmbClient;
  let admin: SmbAccount;

  beforeAll(async () => {
    samba = await Samba.start();
    client = new SmbClient(samba, PRIVATE);
    admin = accountOf(samba.admin);
  });
  afterAll(() => samba?.stop());

  /** Work with an account that no other test has meanwhile. */
  async function withAccount<T>(work: (account: SambaAccount) => Promise<T>): Promise<T> {
    const account = await samba.account();
    try {
      return await work(account);
    } finally {
      await samba.remove(account.username);
    }
  }

  describe('logging in', () => {
    test('succeeds with the password of the account, whatever the case of its name', async () => {
      await client.login(ctx, admin);
      await client.login(ctx, { ...admin, username: admin.username.toUpperCase() });
      await client.login(ctx, { ...admin, domain: 'LABHOST' });
    });

    test('is refused with another password, and with an unknown name', async () => {
      await withAccount(async ({ username, password }) => {
        const other = newPassword();
        const wrong = await failureOf(client.login(ctx, accountOf({ username, password: other })), other, password);
        expect(wrong).toMatchObject({
          code: 'CREDENTIALS_REJECTED',
          certainty: 'unchanged',
          isTemporary: false,
          message: 'The server rejected the user name or password (NT_STATUS_LOGON_FAILURE).',
        });
        const unknown = await failureOf(client.login(ctx, accountOf({ username: 'nobody-here', password })), password);
        expect(unknown.code).toBe('CREDENTIALS_REJECTED');
      });
    });

    test('tells what is the matter with the account to whoever has its password, and to nobody else', async () => {
      await withAccount(async (account) => {
        await samba.disable(account.username);
        expect((await failureOf(client.login(ctx, accountOf(account)))).code).toBe('ACCOUNT_DISABLED');
        const stranger = accountOf({ ...account, password: newPassword() });
        expect((await failureOf(client.login(ctx, stranger))).code).toBe('CREDENTIALS_REJECTED');
        await samba.enable(account.username);
        await samba.mustChange(account.username);
        expect((await failureOf(client.login(ctx, accountOf(account)))).code).toBe('PASSWORD_EXPIRED');
        expect((await failureOf(client.login(ctx, stranger))).code).toBe('CREDENTIALS_REJECTED');
      });
    });

    test('to a locked account is refused with ACCOUNT_LOCKED, for the time being', async () => {
      await samba.policy('bad lockout attempt', 2);
      try {
        await withAccount(async (account) => {
          for (let tries = 0; tries < 3; tries += 1)
            await failureOf(client.login(ctx, accountOf({ ...account, password: newPassword() })));
          const locked = await failureOf(client.login(ctx, accountOf(account)));
          expect(locked).toMatchObject({ code: 'ACCOUNT_LOCKED', certainty: 'unchanged', isTemporary: true });
          await samba.unlock(account.username);
          await client.login(ctx, accountOf(account));
        });
      } finally {
        await samba.policy('bad lockout attempt', 0);
      }
    });

    test('is what checks a connection', async () => {
      const given = { host: samba.host, port: samba.port, domain: null, username: admin.username };
      await SMB.check(ctx, { ...given, password: admin.password }, PRIVATE);
      const wrong = SMB.check(ctx, { ...given, password: new SealedText(newPassword()) }, PRIVATE);
      expect((await failureOf(wrong)).code).toBe('CREDENTIALS_REJECTED');
    });

    test('is not done inside a transaction', async () => {
      await expect(client.login({ em: {} } as unknown as Context, admin)).rejects.toThrow('inside a transaction');
    });
  });

  describe('an account that changes its own password', () => {
    test('has the new one from then on', async () => {
      await withAccount(async (account) => {
        const next = newPassword();
        await client.changePassword(ctx, accountOf(account), new SealedText(next));
        expect(await samba.takes(account.username, next)).toBe(true);
        expect(await samba.takes(account.username, account.password)).toBe(false);
      });
    });

    test('keeps the old one when that was wrong, or the new one breaks the policy', async () => {
      await samba.policy('min password length', 12);
      try {
        await withAccount(async (account) => {
          const wrong = client.changePassword(
            ctx,
            accountOf({ ...account, password: newPassword() }),
            new SealedText(newPassword()),
          );
          expect(await failureOf(wrong)).toMatchObject({ code: 'CREDENTIALS_REJECTED', certainty: 'unchanged' });
          const short = await failureOf(
            client.changePassword(ctx, accountOf(account), new SealedText('Sh0rt-1')),
            'Sh0rt-1',
          );
          expect(short).toMatchObject({ code: 'PASSWORD_POLICY', certainty: 'unchanged', isTemporary: false });
          expect(await samba.takes(account.username, account.password)).toBe(true);
        });
      } finally {
        await samba.policy('min password length', 5);
      }
    });

    test('has to wait for the minimum age of its password', async () => {
      await samba.policy('minimum password age', 600);
      try {
        await withAccount(async (account) => {
          const early = client.changePassword(ctx, accountOf(account), new SealedText(newPassword()));
          expect(await failureOf(early)).toMatchObject({
            code: 'PASSWORD_POLICY',
            certainty: 'unchanged',
            isTemporary: true,
          });
        });
      } finally {
        await samba.policy('minimum password age', 0);
      }
    });

    test('cannot when it is disabled or has to ask an administrator', async () => {
      await withAccount(async (account) => {
        await samba.mustChange(account.username);
        const expired = client.changePassword(ctx, accountOf(account), new SealedText(newPassword()));
        expect(await failureOf(expired)).toMatchObject({ code: 'PASSWORD_EXPIRED', certainty: 'unchanged' });
      });
    });

    test('may hold any character that is none of control', async () => {
      await withAccount(async ({ username, password }) => {
        let current = password;
        const texts = [
          ` a'b"c\\d; ls | & $(x) \`y\` %z #`,
          'Aa1-trailing ',
          'Aa1-trailing\\',
          '"Aa1"',
          "-U'Aa1",
          'Aa1 Grüße 🔑',
        ];
        const random = fc.sample(fc.string({ minLength: 20, maxLength: 127, unit: 'grapheme-ascii' }), 8);
        const carried = [...texts, ...random.map((text) => `Aa1${text}`.slice(0, 127))];
        for (const next of carried) {
          await client.changePassword(ctx, accountOf({ username, password: current }), new SealedText(next));
          expect(await samba.takes(username, next)).toBe(true);
          current = next;
        }
      });
    });
  });

  describe('an administrator who resets a password', () => {
    test('gives the account the new one, also when it is disabled, and leaves it so', async () => {
      await withAccount(async (account) => {
        const next = newPassword();
        await samba.disable(account.username);
        await client.resetPassword(ctx, admin, account.username, new SealedText(next));
        const login = client.login(ctx, accountOf({ ...account, password: next }));
        expect((await failureOf(login)).code).toBe('ACCOUNT_DISABLED');
        await samba.enable(account.username);
        expect(await samba.takes(account.username, next)).toBe(true);
      });
    });

    test('is told that there is no such account', async () => {
      const reset = client.resetPassword(ctx, admin, 'nobody-here', new SealedText(newPassword()));
      expect(await failureOf(reset)).toMatchObject({ code: 'TARGET_NOT_FOUND', certainty: 'unchanged' });
    });

    test('is told that it is none', async () => {
      await withAccount(async (account) => {
        const reset = client.resetPassword(ctx, accountOf(account), account.username, new SealedText(newPassword()));
        expect(await failureOf(reset)).toMatchObject({ code: 'PERMISSION_MISSING', certainty: 'unchanged' });
        expect(await samba.takes(account.username, account.password)).toBe(true);
      });
    });
  });

  test('a line break in a password never becomes a second command', async () => {
    await withAccount(async (account) => {
      const next = new SealedText(`Aa1-good-one\nsetuserinfo2 ${account.username} 23 Aa1-bad-one`);
      await expect(client.resetPassword(ctx, admin, account.username, next)).rejects.toThrow(
        'cannot be a word of a command',
      );
      await expect(client.changePassword(ctx, accountOf(account), new SealedText(''))).rejects.toThrow(
        'cannot be a word of a command',
      );
      expect(await samba.takes(account.username, account.password)).toBe(true);
    });
  });

  test('passwords are in no arguments of a process, at any moment', async () => {
    await withAccount(async (account) => {
      const seen = new Set<string>();
      const passwords = [account.password, samba.admin.password];
      let isRunning = true;
      const sampling = (async () => {
        while (isRunning) for (const line of await commandLines()) seen.add(line);
      })();
      try {
        for (let round = 0; round < 8; round += 1) {
          const [before = ''] = passwords;
          const [own, given] = [newPassword(), newPassword()];
          passwords.unshift(given, own);
          await client.changePassword(ctx, accountOf({ ...account, password: before }), new SealedText(own));
          await client.resetPassword(ctx, admin, account.username, new SealedText(given));
          await client.login(ctx, accountOf({ ...account, password: given }));
        }
      } finally {
        isRunning = false;
        await sampling;
      }
      const ours = [...seen].filter((line) => line.startsWith('rpcclient') && line.includes(String(samba.port)));
      // Else nothing was looked at.
      expect(ours.length).toBeGreaterThan(0);
      expect([...seen].filter((line) => passwords.some((password) => line.includes(password)))).toEqual([]);
    });
  });

  describe('a change whose answer is lost', () => {
    let proxy: CuttingProxy;
    beforeAll(async () => {
      proxy = await CuttingProxy.start(samba.port);
    });
    afterAll(() => proxy?.stop());

    test('is of unknown outcome, whether it was done or not', async () => {
      await withAccount(async (account) => {
        const through = new SmbClient({ host: samba.host, port: proxy.port }, PRIVATE);
        const certainties = new Set<string>();
        let current = account.password;
        for (let afterSent = 600; afterSent <= 5_400; afterSent += 400) {
          const next = newPassword();
          proxy.cut({ afterSent });
          const error = await through
            .resetPassword(ctx, admin, account.username, new SealedText(next))
            .catch((thrown: unknown) => thrown);
          const isNew = await samba.takes(account.username, next);
          const certainty = error instanceof TargetFailure ? error.certainty : String(error);
          // Never said wrongly; `unknown` may be either.
          if (certainty !== 'unknown')
            expect({ afterSent, certainty, isNew }).toEqual({ afterSent, certainty, isNew: error === undefined });
          certainties.add(`${certainty} ${isNew}`);
          if (isNew) current = next;
          expect(await samba.takes(account.username, current)).toBe(true);
        }
        expect([...certainties]).toEqual(
          expect.arrayContaining(['unchanged false', 'unknown false', 'unknown true', 'undefined true']),
        );
      });
    });
  });
});

async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.map((line) => line.replaceAll('\0', ' '));
}
