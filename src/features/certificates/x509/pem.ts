import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';

/** Maximum size: a bundle contains a certificate, its issuers and one key. */
export const MAX_PEM_BYTES = 64 * 1024;

/** A string with PEM blocks, and its path in the request. */
export interface PemText {
  readonly path: string;
  readonly text: string;
}

/** Content between BEGIN and END. */
export interface PemBlock {
  readonly path: string;
  readonly label: string;
  /** Line number of BEGIN, from 1; null if not read from PEM. */
  readonly line: number | null;
  readonly der: Buffer;
}

/** An error at a block. Never repeats the content of the block. */
export const violationAtBlock = ({ path, line }: Pick<PemBlock, 'path' | 'line'>, message: string): ErrorDetail =>
  invalid(path, line === null ? message : `${message} (line ${line})`);

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The PEM blocks of a string, in order. Text outside of blocks is ignored: tools write names of certificates there (RFC 7468, section 2).
 *
 * @param faults receives errors of single blocks, and of a string without any
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
    if (label === undefined) faults.push(violationAtBlock(start, 'contains an invalid BEGIN line'));
    else if (end < 0 || body.includes('-----'))
      faults.push(violationAtBlock(start, 'contains a PEM block without an END line'));
    else {
      // The traditional format of encrypted keys has header lines inside the block.
      if (body.includes(':')) faults.push(violationAtBlock(start, 'must be unencrypted and without header lines'));
      else if (body.length % 4 !== 0 || !BASE64.test(body))
        faults.push(violationAtBlock(start, 'contains a PEM block that is not valid base64'));
      else blocks.push({ ...start, label, der: Buffer.from(body, 'base64') });
      at = end;
    }
  }
  if (begun === 0) faults.push({ path, code: 'INVALID_FORMAT', message: 'must be PEM: -----BEGIN ...-----' });
  return blocks;
}

/** Encodes DER as a PEM block, in lines of 64 characters, with a trailing newline. */
export const toPem = (label: string, der: Uint8Array): string => {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
};

/** Null if it throws: messages of parsers may repeat the input. */
export function nullIfThrows<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
