import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** What stands before the 32 bytes of an Ed25519 key in DER. Source: RFC 8410. */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;

/** An Ed25519 key pair. Others verify what it signs with its public key alone. */
export class SigningKey {
  readonly #privateKey: KeyObject;
  /** 32 bytes in base64. */
  readonly publicKey: string;

  /** @param seed 32 bytes, which are cleared */
  constructor(seed: Buffer) {
    const der = Buffer.concat([PRIVATE_PREFIX, seed]);
    this.#privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    seed.fill(0);
    const spki = createPublicKey(this.#privateKey).export({ format: 'der', type: 'spki' });
    this.publicKey = spki.subarray(PUBLIC_PREFIX.length).toString('base64');
  }

  /** @returns 64 bytes in base64 */
  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#privateKey).toString('base64');
  }
}

/** Whether a text is a public key as it is shown. */
export const isPublicKey = (text: string): boolean => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === KEY_BYTES && bytes.toString('base64') === text;
};

/** True when the key pair of a public key signed the text. */
export function isSigned(text: string, signature: string, publicKey: string): boolean {
  if (!isPublicKey(publicKey)) return false;
  const der = Buffer.concat([PUBLIC_PREFIX, Buffer.from(publicKey, 'base64')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
}
