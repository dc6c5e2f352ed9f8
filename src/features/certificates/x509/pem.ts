import type { ErrorDetail } from '../../../kernel/errors.js';

/** More of it is refused: a bundle holds a certificate, its issuers and one key. */
export const MAX_PEM_BYTES = 64 * 1024;

/** A text with PEM blocks, and the field of the request that has it. */
export interface PemText {
  readonly path: string;
  readonly text: string;
}

/** What is between BEGIN and END. */
export interface PemBlock {
  readonly path: string;
  readonly label: string;
  /** The line of BEGIN, from 1; null for what was not read from PEM. */
  readonly line: number | null;
  readonly der: Buffer;
}

/** What is wrong at a block. It never repeats what the block holds. */
export const faultAt = ({ path, line }: Pick<PemBlock, 'path' | 'line'>, message: string): ErrorDetail => ({
  path,
  code: 'INVALID',
  message: line === null ? message : `${message} (line ${line})`,
});

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The PEM blocks of a text, in their order. Text before, between and behind them is passed over, as tools write names of certificates
 * there (RFC 7468, section 2).
 *
 * @param faults gets what is wrong with single blocks, and with a text that has none
 */
export function readPem({ path, text }: PemText, faults: ErrorDetail[]): PemBlock[] {
  if (Buffer.byteLength(text) > MAX_PEM_BYTES) {
    faults.push({ path, code: 'TOO_BIG', message: 'must have at most 64 KiB' });
    return [];
  }
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.trim());
  const blocks: PemBlock[] = [];
  let begun = 0;
  for (let at = 0; at < lines.length; at += 1) {
    if (!(lines[at] as string).startsWith('-----BEGIN ')) continue;
    begun += 1;
    const start = { path, line: at + 1 };
    const [, label] = BEGIN.exec(lines[at] as string) ?? [];
    const end = label === undefined ? -1 : lines.indexOf(`-----END ${label}-----`, at);
    const body = lines.slice(at + 1, end).join('');
    if (label === undefined) faults.push(faultAt(start, 'has a line that begins no PEM block'));
    else if (end < 0 || body.includes('-----')) faults.push(faultAt(start, 'has a PEM block without its end'));
    else {
      // An old form encrypts keys by header lines inside the block.
      if (body.includes(':')) faults.push(faultAt(start, 'must not be encrypted, and have no header lines'));
      else if (body.length % 4 !== 0 || !BASE64.test(body))
        faults.push(faultAt(start, 'has a PEM block that is no base64'));
      else blocks.push({ ...start, label, der: Buffer.from(body, 'base64') });
      at = end;
    }
  }
  if (begun === 0) faults.push({ path, code: 'INVALID_FORMAT', message: 'must be PEM: -----BEGIN ...-----' });
  return blocks;
}

/** DER as a PEM block, in lines of 64 characters, with a newline at the end. */
export const toPem = (label: string, der: Uint8Array): string => {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
};

/** Null where it throws: messages of parsers may repeat what they read. */
export function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
