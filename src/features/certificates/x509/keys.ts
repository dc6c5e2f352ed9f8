import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, type webcrypto } from 'node:crypto';
import { promisify } from 'node:util';

const { subtle } = globalThis.crypto;

/** What keys are made with. */
export const KEY_ALGORITHMS = ['rsa-2048', 'rsa-3072', 'rsa-4096', 'ec-p256', 'ec-p384', 'ed25519'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'p256', secp384r1: 'p384', secp521r1: 'p521' };

/** A private key and its public one. */
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

/** Makes a key pair, in another thread: RSA keys take seconds. */
export async function newKeyPair(algorithm: KeyAlgorithm): Promise<KeyPair> {
  const [family, variant = ''] = algorithm.split('-');
  if (family === 'rsa') return (await generateRsa(Number(variant))) as KeyPair;
  if (family === 'ec') return (await generateEc(variant === 'p256' ? 'prime256v1' : 'secp384r1')) as KeyPair;
  return (await generateEd25519()) as KeyPair;
}

/** The algorithm of a key in our words: `rsa-2048`, `ec-p256`, `ed25519`; others, of imported certificates, as they are called. */
export function algorithmOf({ asymmetricKeyType: kind, asymmetricKeyDetails = {} }: KeyObject): string {
  const { modulusLength, namedCurve } = asymmetricKeyDetails;
  if (kind === 'ec') return `ec-${CURVES[namedCurve ?? ''] ?? namedCurve}`;
  return modulusLength === undefined ? String(kind) : `${kind}-${modulusLength}`;
}

/** The private key of a PEM block. @throws Error for DER that is none, or a key that is encrypted */
export const readPrivateKey = (label: string, der: Buffer): KeyObject =>
  createPrivateKey({ key: der, format: 'der', type: KEY_TYPES[label] as 'pkcs8' });

/** Labels of PEM blocks with private keys that are not encrypted, and what is in them. */
export const KEY_TYPES: Readonly<Record<string, 'pkcs8' | 'pkcs1' | 'sec1'>> = {
  'PRIVATE KEY': 'pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
};

/** A private key as PEM, in PKCS#8. */
export const privateKeyPem = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();

/** The key of such PEM. */
export const openPrivateKey = (pem: string): KeyObject => createPrivateKey(pem);

/**
 * Whether a private key belongs to a public key. Not by `KeyObject.equals`: for keys of two kinds it leaves an error behind in OpenSSL,
 * with which Node then refuses the next key that is read.
 */
export const isPairOf = (privateKey: KeyObject, publicKey: KeyObject): boolean =>
  spkiOf(createPublicKey(privateKey)).equals(spkiOf(publicKey));

/** A public key in DER. */
export const spkiOf = (publicKey: KeyObject): Buffer => publicKey.export({ format: 'der', type: 'spki' });

/** How Web Crypto signs with keys of these kinds, by the name that Node has for them. */
function signingAlgorithm(key: KeyObject): { readonly name: string; readonly namedCurve?: string; hash?: string } {
  const algorithm = algorithmOf(key);
  if (algorithm === 'ec-p256') return { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  if (algorithm === 'ec-p384') return { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' };
  if (algorithm === 'ed25519') return { name: 'Ed25519' };
  return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
}

/** A key as Web Crypto has it, and the algorithm that it signs with. */
export interface Signer {
  readonly key: webcrypto.CryptoKey;
  readonly algorithm: { readonly name: string; readonly hash?: string };
}

/** A private key that signs certificates and requests. */
export async function signerOf(privateKey: KeyObject): Promise<Signer> {
  const algorithm = signingAlgorithm(privateKey);
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { key: await subtle.importKey('pkcs8', der, algorithm, false, ['sign']), algorithm };
}

/** A public key as Web Crypto has it. */
export const verifierOf = (publicKey: KeyObject): Promise<webcrypto.CryptoKey> =>
  subtle.importKey('spki', spkiOf(publicKey), signingAlgorithm(publicKey), true, ['verify']);
