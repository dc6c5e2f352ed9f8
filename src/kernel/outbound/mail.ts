import { isIP } from 'node:net';
import { type Context, isTransaction } from '../context.js';
import type { SealedText } from '../crypto/sealed-text.js';
import type { MailAddress } from './mail-settings.js';
import { networkError, OutboundError } from './outbound-error.js';

const CONNECT_MS = 10_000;
/** For all of it; servers that scan mail take their time before they accept it. */
const LIMIT_MS = 60_000;
/** The longest subject is far below what a line may have, so that no server folds or cuts it. */
const MAX_SUBJECT = 200;

/** A mail to one recipient. */
export interface Mail {
  readonly to: string;
  /** The same for each attempt at the same mail: an id, which becomes the local part of the Message-ID. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The settings `SMTP_URL` and `MAIL_FROM`. */
interface MailSettings {
  readonly smtpUrl: SealedText | null;
  readonly mailFrom: MailAddress;
}

/** Hands mail over to the mail server of the installation. */
export class Mailer {
  /** @param limitMs for all of one mail */
  constructor(
    private readonly settings: MailSettings,
    private readonly limitMs = LIMIT_MS,
  ) {}

  /**
   * Hands a mail over. Returns once the server has taken responsibility for it.
   *
   * @throws OutboundError MAIL_NOT_CONFIGURED, MAIL_NOT_ENCRYPTED, MAIL_LOGIN_REJECTED, TARGET_UNREACHABLE,
   *   TARGET_TIMED_OUT, TARGET_CERTIFICATE; TARGET_REJECTED with the reply code, for good when it is 5xx
   * @throws Error inside a transaction
   */
  async send(ctx: Context, { to, id, subject, text, html }: Mail): Promise<void> {
    if (isTransaction(ctx)) throw new Error('an external system was called inside a transaction');
    const { smtpUrl, mailFrom } = this.settings;
    if (smtpUrl === null) throw new OutboundError('MAIL_NOT_CONFIGURED');
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(), this.limitMs);
    try {
      // Loaded when it is wanted: many installations send no mail.
      const { createTransport } = await import('nodemailer');
      await createTransport(serverOf(smtpUrl)).sendMail({
        from: { ...mailFrom },
        to: { name: '', address: to },
        envelope: { from: mailFrom.address, to: [to] },
        messageId: `<${id}@${mailFrom.address.replace(/^.*@/, '')}>`,
        subject: subject.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, MAX_SUBJECT),
        text,
        html,
        // Absence notes and mailing lists answer no machine.
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: clock.signal,
      });
    } catch (error) {
      throw mailError(error as MailError);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Without `?tls=optional` nothing is sent over a connection that is not encrypted. */
function serverOf(smtpUrl: SealedText) {
  const { protocol, hostname, port, username, password, search } = new URL(smtpUrl.reveal());
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isTls = protocol === 'smtps:';
  return {
    host,
    port: Number(port) || (isTls ? 465 : 587),
    secure: isTls,
    requireTLS: !isTls && search === '',
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) }, forceAuth: true }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: LIMIT_MS,
  };
}

/** What nodemailer adds to its errors. Their messages repeat what the server said. */
interface MailError extends Error {
  readonly code?: string;
  readonly originalCode?: string;
  readonly responseCode?: number;
}

function mailError(violation: MailError): Error {
  const { code, originalCode, responseCode: status } = violation;
  if (code === undefined) return violation;
  const known = networkError(violation, originalCode ?? code);
  if (known.code !== 'TARGET_UNREACHABLE') return known;
  if (code === 'ETLS') return new OutboundError('MAIL_NOT_ENCRYPTED');
  if (status === undefined) return known;
  // The operator's mistake, not the recipient's: it may be mended while attempts go on.
  if (code === 'EAUTH') return new OutboundError('MAIL_LOGIN_REJECTED', { status });
  return new OutboundError('TARGET_REJECTED', { status, isTemporary: status < 500 });
}
