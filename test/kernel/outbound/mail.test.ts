import { createServer, type Server, type Socket } from 'node:net';
import type { Context } from '../../../src/kernel/context.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import { type Mail, Mailer } from '../../../src/kernel/outbound/mail.js';
import { mailAddressOf } from '../../../src/kernel/outbound/mail-settings.js';
import { OutboundError } from '../../../src/kernel/outbound/outbound-error.js';
import { Authority, type ServerCertificate } from '../../kit/outside/authority.js';
import { MailServer } from '../../kit/outside/mail-server.js';

const CANARY = 'cAnArY7';
const ctx = {} as Context;
const LOGIN = { user: 'strong@room', password: `p:/${CANARY}` };
const CREDENTIALS = `${encodeURIComponent(LOGIN.user)}:${encodeURIComponent(LOGIN.password)}@`;
const FROM = { name: 'Strongroom of Shöp', address: 'vault@example.com' };
const MAIL: Mail = {
  to: 'ops@example.org',
  id: '0c5d3f0e-6f0f-4a6e-9a51-0f9f3b0b8f5e',
  subject: 'Certificates expire: Zürich',
  text: 'Grüße\n.\nend',
  html: '<p>Grüße</p>',
};

let authority: Authority;
let certificate: ServerCertificate;
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  authority = (await Authority.create()).trust();
  certificate = await authority.issue(['localhost']);
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function start(options: Partial<Parameters<typeof MailServer.start>[0]> = {}): Promise<MailServer> {
  const server = await MailServer.start({ certificate, ...options });
  running.push(server);
  return server;
}

const mailer = (url: string, limitMs?: number) => new Mailer({ smtpUrl: new SealedText(url), mailFrom: FROM }, limitMs);

/** The error, which must tell nothing of the mail, of the server and of what it said. */
async function failureOf(call: Promise<unknown>): Promise<OutboundError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OutboundError);
  const { message, stack, cause } = error as OutboundError;
  expect(`${JSON.stringify(error)} ${message} ${stack} ${cause}`).not.toMatch(
    /cAnArY7|localhost|127\.0\.0\.1|example\./,
  );
  return error as OutboundError;
}

describe('a mail', () => {
  test('is handed over encrypted, after a login, in an envelope of its own', async () => {
    const server = await start({ login: LOGIN });

    await mailer(`smtp://${CREDENTIALS}localhost:${server.port}`).send(ctx, MAIL);

    expect(server.received).toMatchObject([
      {
        from: FROM.address,
        to: [MAIL.to],
        isEncrypted: true,
        user: LOGIN.user,
        mail: {
          from: FROM,
          to: [{ name: '', address: MAIL.to }],
          subject: MAIL.subject,
          messageId: `<${MAIL.id}@example.com>`,
          text: `${MAIL.text}\n`,
          html: `${MAIL.html}\n`,
        },
      },
    ]);
    expect(server.received[0]?.mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
  });

  test('goes over TLS from the start with smtps', async () => {
    const server = await start({ secure: true, login: LOGIN });

    await mailer(`smtps://${CREDENTIALS}localhost:${server.port}`).send(ctx, MAIL);

    expect(server.received).toMatchObject([{ isEncrypted: true, user: LOGIN.user }]);
  });

  test('goes unencrypted where the operator allows it and the server offers nothing else', async () => {
    const server = await start({ startTls: false });

    await mailer(`smtp://127.0.0.1:${server.port}?tls=optional`).send(ctx, MAIL);

    expect(server.received).toMatchObject([{ isEncrypted: false, user: null }]);
  });

  test('is encrypted all the same where the server offers it', async () => {
    const server = await start();

    await mailer(`smtp://localhost:${server.port}/?tls=optional`).send(ctx, MAIL);

    expect(server.received).toMatchObject([{ isEncrypted: true }]);
  });

  test('keeps a subject on its line', async () => {
    const server = await start();
    const subject = `of\r\nBcc: ${CANARY}@example.com\n\n${'x'.repeat(300)}`;

    await mailer(`smtp://localhost:${server.port}`).send(ctx, { ...MAIL, subject });

    expect(server.received[0]?.mail.headers.map(({ key }) => key)).not.toContain('bcc');
    expect(server.received[0]?.mail.subject).toMatch(/^of Bcc: cAnArY7@example.com x{100,}$/);
    expect(server.received[0]?.to).toEqual([MAIL.to]);
  });

  test('is refused inside a transaction', async () => {
    const server = await start();
    const sent = mailer(`smtp://localhost:${server.port}`).send({ em: {} } as unknown as Context, MAIL);

    await expect(sent).rejects.toThrow('an external system was called inside a transaction');
  });
});

describe('a mail that is not handed over', () => {
  test('is MAIL_NOT_CONFIGURED without a server', async () => {
    const sent = new Mailer({ smtpUrl: null, mailFrom: FROM }).send(ctx, MAIL);

    expect(await failureOf(sent)).toMatchObject({ code: 'MAIL_NOT_CONFIGURED', isTemporary: false });
  });

  test.each(
    [421, 450, 451, 452].flatMap((code) => (['from', 'to', 'data'] as const).map((step) => [step, code] as const)),
  )('is temporary when the server refuses %s with %i', async (step, status) => {
    const server = await start({ refusals: { [step]: status } });

    expect(await failureOf(mailer(`smtp://localhost:${server.port}`).send(ctx, MAIL))).toMatchObject({
      code: 'TARGET_REJECTED',
      status,
      isTemporary: true,
    });
  });

  test.each(
    [550, 552, 553, 554].flatMap((code) => (['from', 'to', 'data'] as const).map((step) => [step, code] as const)),
  )('is permanent when the server refuses %s with %i', async (step, status) => {
    const server = await start({ refusals: { [step]: status } });

    expect(await failureOf(mailer(`smtp://localhost:${server.port}`).send(ctx, MAIL))).toMatchObject({
      code: 'TARGET_REJECTED',
      status,
      isTemporary: false,
    });
  });

  test('is MAIL_LOGIN_REJECTED with a wrong password, and may go through later', async () => {
    const server = await start({ login: { ...LOGIN, password: 'another' } });

    expect(await failureOf(mailer(`smtp://${CREDENTIALS}localhost:${server.port}`).send(ctx, MAIL))).toMatchObject({
      code: 'MAIL_LOGIN_REJECTED',
      status: 535,
      isTemporary: true,
    });
  });

  test('is MAIL_NOT_ENCRYPTED when the server offers no STARTTLS, and no password was sent', async () => {
    const server = await start({ startTls: false, login: LOGIN });

    expect(await failureOf(mailer(`smtp://${CREDENTIALS}localhost:${server.port}`).send(ctx, MAIL))).toMatchObject({
      code: 'MAIL_NOT_ENCRYPTED',
      isTemporary: true,
    });
    expect(server.received).toEqual([]);
  });

  test.each(['smtp', 'smtps'])(
    'is TARGET_CERTIFICATE when the certificate is for another name, with %s',
    async (scheme) => {
      const other = await authority.issue(['mail.example.test']);
      const server = await start({ certificate: other, secure: scheme === 'smtps' });

      expect(await failureOf(mailer(`${scheme}://localhost:${server.port}`).send(ctx, MAIL))).toMatchObject({
        code: 'TARGET_CERTIFICATE',
        isTemporary: true,
      });
    },
  );

  test('is TARGET_UNREACHABLE when nothing listens', async () => {
    const server = await start();
    const { port } = server;
    await server.stop();
    running.splice(0);

    expect(await failureOf(mailer(`smtp://127.0.0.1:${port}`).send(ctx, MAIL))).toMatchObject({
      code: 'TARGET_UNREACHABLE',
      isTemporary: true,
    });
  });

  test.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => undefined],
    ['says one letter at a time', (socket) => void setInterval(() => socket.write('2'), 20).unref()],
  ])('is TARGET_TIMED_OUT when the server %s', async (_, speak) => {
    const port = await silentServer(speak);

    expect(await failureOf(mailer(`smtp://127.0.0.1:${port}`, 300).send(ctx, MAIL))).toMatchObject({
      code: 'TARGET_TIMED_OUT',
      isTemporary: true,
    });
  });

  test('is temporary when the server hangs up', async () => {
    const port = await silentServer((socket) => socket.destroy());

    expect(await failureOf(mailer(`smtp://127.0.0.1:${port}`).send(ctx, MAIL))).toMatchObject({ isTemporary: true });
  });
});

describe('an address of mail', () => {
  test.each([
    ['vault@example.com', '', 'vault@example.com'],
    ['Strongroom <vault@example.com>', 'Strongroom', 'vault@example.com'],
    [' Zürich, Ops <vault+x@localhost> ', 'Zürich, Ops', 'vault+x@localhost'],
  ])('is %j', (text, name, address) => {
    expect(mailAddressOf(text)).toEqual({ name, address });
  });

  test.each(['', 'vault', 'a@b, c@d', 'Name <a@b', 'Name <a@b> <c@d>', 'Na\r\nme <a@b>', 'a b@c', 'Name <>'])(
    'is not %j',
    (text) => {
      expect(mailAddressOf(text)).toBeNull();
    },
  );
});

async function silentServer(speak: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    speak(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  running.push({
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  });
  return (server.address() as { port: number }).port;
}
