import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const TOKEN = /^(srt_[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/;

const checksum = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 6);

/**
 * A fresh token: `srt_`, 32 bytes in base64url (43 characters), and a checksum of 6 characters for leak scanners.
 *
 * @param random 32 bytes
 */
export const mintToken = (random?: Buffer): string => mint('srt_', random);

/** A fresh client secret of a machine identity: made as a token is, and marked `srs_`. */
export const mintClientSecret = (random?: Buffer): string => mint('srs_', random);

/** A fresh signing secret of a target of events: made as a token is, and marked `srw_`. */
export const mintSigningSecret = (random?: Buffer): string => mint('srw_', random);

function mint(mark: string, random: Buffer = randomBytes(SECRET_BYTES)): string {
  if (random.length !== SECRET_BYTES) throw new Error('a token has 32 bytes');
  const text = mark + random.toString('base64url');
  return text + checksum(text);
}

/** True for the form of a token with the right checksum. What fails here is no token and costs no query. */
export function hasValidChecksum(token: string): boolean {
  const [, text, sum] = TOKEN.exec(token) ?? [];
  return text !== undefined && checksum(text) === sum;
}

/** What is stored of a token or a client secret: its SHA-256. No salt and no stretching, since it is 256 random bits. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();
