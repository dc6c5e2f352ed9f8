import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, type webcrypto } from 'node:crypto';
import { promisify } from 'node:util';

const { subtle } = globalThis.crypto;

/** Algorithms of generated keys. */
export const KEY_ALGORITHMS = ['rsa-2048', 'rsa-3072', 'rsa-4096', 'ec-p256', 'ec-p384', 'ed25519'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'p256', secp384r1: 'p384', secp521r1: 'p521' };

/** A private key and its public key. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const generateRsa = promisify((bits: number, done: (error: Error | null, pair?: KeyPair) => void) =>
  generateKeyPair('rsa', { modulusLength: bits }, (error, publicKey, privateKey) =>
    done(error, { publicKey, privateKey }),
  ),
);
const generateEc = promisify((curve: string, done: (error: Error | null, pair?: KeyPair) => void) =>
  generateKeyPair('ec', { namedCurve: curve }, (error, publicKey, privateKey) =>
    done(error, { publicKey, privateKey }),
  ),
);
const generateEd25519 = promisify((done: (error: Error | null, pair?: KeyPair) => void) =>
  generateKeyPair('ed25519', undefined, (error, publicKey, privateKey) => done(error, { publicKey, privateKey })),
);

/** Generates a key pair in another thread: RSA keys take seconds. */
export async function newKeyPair(algorithm: KeyAlgorithm): Promise<KeyPair> {
  const [family, variant = ''] = algorithm.split('-');
  if (family === 'rsa') return (await generateRsa(Number(variant))) as KeyPair;
  if (family === 'ec') return (await generateEc(variant === 'p256' ? 'prime256v1' : 'secp384r1')) as KeyPair;
  return (await generateEd25519()) as KeyPair;
}

/** The algorithm of a key: `rsa-2048`, `ec-p256`, `ed25519`; other algorithms of imported certificates with Node's names. */
export function algorithmOf({ asymmetricKeyType: kind, asymmetricKeyDetails = {} }: KeyObject): string {
  const { modulusLength, namedCurve } = asymmetricKeyDetails;
  if (kind === 'ec') return `ec-${CURVES[namedCurve ?? ''] ?? namedCurve}`;
  return modulusLength === undefined ? String(kind) : `${kind}-${modulusLength}`;
}

/** The private key of a PEM block. @throws Error for invalid DER or an encrypted key */
export const readPrivateKey = (label: string, der: Buffer): KeyObject =>
  createPrivateKey({ key: der, format: 'der', type: KEY_TYPES[label] as 'pkcs8' });

/** Labels of PEM blocks with unencrypted private keys, and their formats. */
export const KEY_TYPES: Readonly<Record<string, 'pkcs8' | 'pkcs1' | 'sec1'>> = {
  'PRIVATE KEY': 'pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
};

/** A private key as PEM (PKCS#8). */
export const privateKeyPem = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();

/** Parses such PEM. */
export const openPrivateKey = (pem: string): KeyObject => createPrivateKey(pem);

/**
 * Whether a private key belongs to a public key. Does not use `KeyObject.equals`: for keys of different kinds it leaves an error in the
 * OpenSSL queue, because of which Node rejects the next key that it parses.
 */
export const isPairOf = (privateKey: KeyObject, publicKey: KeyObject): boolean =>
  spkiOf(createPublicKey(privateKey)).equals(spkiOf(publicKey));

/** A public key in DER. */
export const spkiOf = (publicKey: KeyObject): Buffer => publicKey.export({ format: 'der', type: 'spki' });

/** Web Crypto parameters for signatures with such keys, by Node's names of algorithms. */
function signingAlgorithm(key: KeyObject): { readonly name: string; readonly namedCurve?: string; hash?: string } {
  const algorithm = algorithmOf(key);
  if (algorithm === 'ec-p256') return { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  if (algorithm === 'ec-p384') return { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' };
  if (algorithm === 'ed25519') return { name: 'Ed25519' };
  return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
}

/** A Web Crypto key and its signature algorithm. */
interface Signer {
  readonly key: webcrypto.CryptoKey;
  readonly algorithm: { readonly name: string; readonly hash?: string };
}

/** Imports a private key to sign certificates and requests. */
export async function signerOf(privateKey: KeyObject): Promise<Signer> {
  const algorithm = signingAlgorithm(privateKey);
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { key: await subtle.importKey('pkcs8', der, algorithm, false, ['sign']), algorithm };
}

/** Imports a public key. */
export const verifierOf = (publicKey: KeyObject): Promise<webcrypto.CryptoKey> =>
  subtle.importKey('spki', spkiOf(publicKey), signingAlgorithm(publicKey), true, ['verify']);
