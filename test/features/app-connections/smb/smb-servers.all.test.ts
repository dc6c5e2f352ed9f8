import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TargetFailure } from '../../../../src/features/rotations/app-connections/kind/target-failure.js';
import { type SmbAccount, SmbClient } from '../../../../src/features/rotations/app-connections/smb/smb-client.js';
import type { Context } from '../../../../src/kernel/context.js';
import { SealedText } from '../../../../src/kernel/crypto/sealed-text.js';
import type { TargetPolicy } from '../../../../src/kernel/outbound/http.js';
import { freePort } from '../../../kit/free-port.js';
import { describeWithSamba, newPassword, Samba } from '../../../kit/outside/samba.ts';
import { accountOf, failureOf } from '../../../kit/outside/smb-calls.ts';
import { testInAll } from '../../../kit/scope.ts';

const ctx = {} as Context;
const PRIVATE: TargetPolicy = { allowPrivateTargets: true };

describeWithSamba('an SMB server, good or bad,', () => {
  let samba: Samba;
  let admin: SmbAccount;

  beforeAll(async () => {
    samba = await Samba.start();
    admin = accountOf(samba.admin);
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
    await samba?.stop();
  });

  const servers: Server[] = [];
  const sockets: Socket[] = [];
  /** A server that does this with each connection. */
  async function listen(meet: (socket: Socket) => void): Promise<number> {
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      meet(socket);
    });
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return (server.address() as AddressInfo).port;
  }
  const loginAt = (port: number): Promise<void> =>
    new SmbClient({ host: '127.0.0.1', port }, PRIVATE).login(ctx, admin);

  /** What a reset fails with on a server of its own, whose part that changes passwords hangs. */
  async function failureOfHanging(): Promise<TargetFailure> {
    const stuck = await Samba.start();
    try {
      const account = await stuck.account();
      const resume = await stuck.hang();
      const reset = new SmbClient(stuck, PRIVATE).resetPassword(
        ctx,
        accountOf(stuck.admin),
        account.username,
        new SealedText(newPassword()),
      );
      const failure = await failureOf(reset).finally(resume);
      if (failure.certainty === 'unchanged') expect(await stuck.takes(account.username, account.password)).toBe(true);
      return failure;
    } finally {
      await stuck.stop();
    }
  }

  describe('a server that refuses the usual way to change a password', () => {
    /** A tool in whose place stands one that answers the commands by their first words, and keeps them. */
    async function standIn(answers: Readonly<Record<string, string>>) {
      const folder = await mkdtemp(join(tmpdir(), 'tool-'));
      const cases = Object.entries(answers).map(([command, answer]) => `${command}) echo '${answer}' ;;`);
      const lines = [
        '#!/bin/sh',
        `while read -r command rest; do echo "$command" >>"${folder}/asked"; case "$command" in`,
      ];
      await writeFile(join(folder, 'rpcclient'), [...lines, ...cases, 'esac; done', ''].join('\n'), { mode: 0o755 });
      const asked = async (): Promise<string[]> => (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n');
      return { client: new SmbClient(samba, PRIVATE, `${folder}:/usr/bin:/bin`), asked };
    }
    const getusername = 'Account Name: games, Authority Name: LABHOST';
    const refused = (status: string): string => `result was NT_STATUS_${status}`;
    const change = (of: SmbClient): Promise<void> => of.changePassword(ctx, admin, new SealedText(newPassword()));

    test('is asked in the newer way once', async () => {
      const tool = await standIn({ chgpasswd3: refused('ACCESS_DENIED'), getusername });
      await change(tool.client);
      expect(await tool.asked()).toEqual(['chgpasswd3', 'getusername', 'chgpasswd4', 'getusername']);
    });

    test.each([
      ['ACCESS_DENIED', 'ACCESS_DENIED', 'PERMISSION_MISSING'],
      ['ACCESS_DENIED', 'PASSWORD_RESTRICTION', 'PASSWORD_POLICY'],
      ['RPC_PROCNUM_OUT_OF_RANGE', 'NOT_SUPPORTED', 'PROTOCOL_UNSUPPORTED'],
    ])('by %s, and the newer one by %s, fails with %s', async (first, second, code) => {
      const tool = await standIn({ chgpasswd3: refused(first), chgpasswd4: refused(second), getusername });
      expect(await failureOf(change(tool.client))).toMatchObject({ code, certainty: 'unchanged' });
    });

    test.each(['WRONG_PASSWORD', 'PASSWORD_RESTRICTION', 'IO_TIMEOUT', 'ACCOUNT_LOCKED_OUT'])(
      'is not asked again after %s',
      async (status) => {
        const tool = await standIn({ chgpasswd3: refused(status), getusername });
        await failureOf(change(tool.client));
        expect(await tool.asked()).toEqual(['chgpasswd3', 'getusername']);
      },
    );
  });

  describe('where targets may not be private', () => {
    const PUBLIC: TargetPolicy = { allowPrivateTargets: false };

    test.each([
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f.1',
      '0177.0.0.1',
      '2130706433',
      'a.localhost',
      '10.0.0.1',
      '169.254.169.254',
    ])('%s is not called', async (host) => {
      const failure = await failureOf(new SmbClient({ host, port: samba.port }, PUBLIC).login(ctx, admin));
      expect(failure).toMatchObject({ certainty: 'unchanged' });
      expect(['TARGET_REFUSED', 'TARGET_UNREACHABLE']).toContain(failure.code);
    });

    test('a name with one private address is not called', async () => {
      const policy = { ...PUBLIC, addressesOf: async () => ['192.0.2.1', '127.0.0.1'] };
      const failure = await failureOf(
        new SmbClient({ host: 'files.example.test', port: samba.port }, policy).login(ctx, admin),
      );
      expect(failure).toMatchObject({ code: 'TARGET_REFUSED', certainty: 'unchanged' });
    });
  });

  test('its name is resolved once for a call, and another of its addresses is tried when one is not reached', async () => {
    let asked = 0;
    const policy: TargetPolicy = {
      allowPrivateTargets: true,
      addressesOf: async () => {
        asked += 1;
        return ['127.0.0.9', '127.0.0.1'];
      },
    };
    await new SmbClient({ host: 'files.example.test', port: samba.port }, policy).login(ctx, admin);
    expect(asked).toBe(1);
  });

  test('without the tool the failure says which package has it', async () => {
    const failure = await failureOf(new SmbClient(samba, PRIVATE, '/nonexistent').login(ctx, admin));
    expect(failure).toMatchObject({ code: 'TOOL_MISSING', certainty: 'unchanged' });
    expect(failure.message).toContain('package smbclient');
  });
  describe('a server that is not as it should be', () => {
    test('is unreachable at a closed port', async () => {
      expect(await failureOf(loginAt(await freePort()))).toMatchObject({
        code: 'TARGET_UNREACHABLE',
        certainty: 'unchanged',
        isTemporary: true,
      });
    });

    test('is unreachable when it hangs up', async () => {
      const failure = await failureOf(loginAt(await listen((socket) => socket.destroy())));
      expect(failure).toMatchObject({ code: 'TARGET_UNREACHABLE', certainty: 'unchanged' });
    });

    testInAll('took too long when it never says a word, or its part that changes passwords hangs', async () => {
      const silent = failureOf(loginAt(await listen(() => undefined)));
      const [ofSilent, ofHanging] = await Promise.all([silent, failureOfHanging()]);
      expect(ofSilent).toMatchObject({ code: 'TARGET_TIMED_OUT', certainty: 'unchanged', isTemporary: true });
      expect(ofHanging).toMatchObject({ code: 'TARGET_TIMED_OUT', isTemporary: true });
    });

    test('is of an unsupported protocol without encryption', async () => {
      const old = await Samba.start([
        'server min protocol = SMB2_02',
        'server max protocol = SMB2_10',
        'server smb encrypt = off',
      ]);
      try {
        const failure = await failureOf(new SmbClient(old, PRIVATE).login(ctx, accountOf(old.admin)));
        expect(failure).toMatchObject({ code: 'PROTOCOL_UNSUPPORTED', certainty: 'unchanged' });
      } finally {
        await old.stop();
      }
    });

    test('lets nobody in as a guest', async () => {
      const open = await Samba.start(['map to guest = Bad User', 'server smb encrypt = off']);
      try {
        const guest = accountOf({ username: 'nobody-here', password: newPassword() });
        const failure = await failureOf(new SmbClient(open, PRIVATE).login(ctx, guest));
        expect(['CREDENTIALS_REJECTED', 'PERMISSION_MISSING']).toContain(failure.code);
      } finally {
        await open.stop();
      }
    });
  });
});
