import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { ServerCertificate } from './authority.ts';

/** A mail that arrived: its envelope, how it came, and its content parsed. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly isEncrypted: boolean;
  /** Who logged in. */
  readonly user: string | null;
  readonly mail: Email;
  /** As it was sent. */
  readonly source: string;
}

/** A step of the conversation in which a server refuses, and the code it refuses with. */
export type Refusals = Partial<Record<'connect' | 'from' | 'to' | 'data', number>>;

interface MailServerOptions {
  readonly certificate: ServerCertificate;
  /** TLS from the start. */
  readonly secure?: boolean;
  /** Whether STARTTLS is offered. */
  readonly startTls?: boolean;
  /** Without one nobody needs to log in. */
  readonly login?: { readonly user: string; readonly password: string };
  readonly refusals?: Refusals;
  /** Where it listens; absent: at any port that is free. */
  readonly port?: number;
}

/** A mail server on 127.0.0.1. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** May be changed while it runs. */
  refusals: Refusals;
  /** The code with which a recipient is refused now; null: none. */
  refuses: (recipient: string) => number | null = () => null;
  readonly #server: SMTPServer;

  private constructor(options: MailServerOptions) {
    this.refusals = options.refusals ?? {};
    this.#server = new SMTPServer(this.#settings(options));
    this.#server.on('error', () => undefined);
  }

  static async start(options: MailServerOptions): Promise<MailServer> {
    const server = new MailServer(options);
    await new Promise<void>((listening) => server.#server.listen(options.port ?? 0, '127.0.0.1', listening));
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  /** The mails of a recipient. */
  mailsTo(recipient: string): ReceivedMail[] {
    return this.received.filter(({ to }) => to.includes(recipient));
  }

  stop(): Promise<void> {
    return new Promise((closed) => this.#server.close(closed));
  }

  #settings({ certificate, secure = false, startTls = true, login }: MailServerOptions): SMTPServerOptions {
    const refusal = (responseCode: number | null | undefined): Error | null =>
      responseCode == null ? null : Object.assign(new Error('refused by cAnArY7'), { responseCode });
    const refused = (step: keyof Refusals): Error | null => refusal(this.refusals[step]);
    return {
      ...certificate,
      secure,
      disabledCommands: startTls ? [] : ['STARTTLS'],
      authOptional: login === undefined,
      closeTimeout: 100,
      onConnect: (_, done) => done(refused('connect')),
      onMailFrom: (_, __, done) => done(refused('from')),
      onRcptTo: ({ address }, _, done) => done(refused('to') ?? refusal(this.refuses(address))),
      onAuth: ({ username, password }, _, done) => {
        const isRight = username === login?.user && password === login?.password;
        if (isRight) done(null, { user: username });
        else done(Object.assign(new Error('wrong password of cAnArY7'), { responseCode: 535 }));
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', async () => {
          const failure = refused('data');
          if (failure !== null) return done(failure);
          const source = Buffer.concat(chunks);
          const { mailFrom, rcptTo } = session.envelope;
          this.received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            isEncrypted: session.secure,
            user: typeof session.user === 'string' ? session.user : null,
            mail: await PostalMime.parse(source),
            source: source.toString('utf8'),
          });
          return done();
        });
      },
    };
  }
}
