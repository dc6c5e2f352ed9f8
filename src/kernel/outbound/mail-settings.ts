/** An address of mail, and the name that readers see. */
export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** Whom mail is from unless `MAIL_FROM` says so. */
export const DEFAULT_SENDER: MailAddress = { name: 'Strongroom', address: 'strongroom@localhost' };

const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[a-zA-Z0-9.-]{1,189}$/;
const NAMED = /^(?<name>[^<>"\p{Cc}]{1,100})<(?<address>[^<>]+)>$/u;

/** `mail@example.com` or `Name <mail@example.com>`; null for what is neither. */
export function mailAddressOf(text: string): MailAddress | null {
  const { name = '', address = text } = NAMED.exec(text.trim())?.groups ?? {};
  return ADDRESS.test(address.trim()) ? { name: name.trim(), address: address.trim() } : null;
}

/** Whether a text is a URL of a mail server: see `SMTP_URL` in src/docs/configuration.md. */
export function isSmtpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  const isOptional = protocol === 'smtp:' && search === '?tls=optional';
  return (
    ['smtp:', 'smtps:'].includes(protocol) &&
    hostname !== '' &&
    ['', '/'].includes(pathname) &&
    (search === '' || isOptional) &&
    hash === '' &&
    (username === '') === (password === '') &&
    [username, password].every(isDecodable)
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
