import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { AsnConvert } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier } from '@peculiar/asn1-x509';
import { contentOf, partsOf, sequence, tlv } from './der.js';
import { algorithmOf, spkiOf } from './keys.js';

const signBeside = promisify((hash: string | null, bytes: Uint8Array, key: KeyObject, done: SignDone) =>
  sign(hash, bytes, key, done),
);
type SignDone = (error: Error | null, signature: Buffer) => void;

/** Signature algorithms: the X.509 identifier and Node's name of the hash. Only RSA has NULL parameters (RFC 4055). */
const SCHEMES = {
  'ec-p256': { hash: 'sha256', identifier: new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' }) },
  'ec-p384': { hash: 'sha384', identifier: new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.3' }) },
  ed25519: { hash: null, identifier: new AlgorithmIdentifier({ algorithm: '1.3.101.112' }) },
  rsa: {
    hash: 'sha256',
    identifier: new AlgorithmIdentifier({ algorithm: '1.2.840.113549.1.1.11', parameters: null }),
  },
} as const;

const schemeOf = (key: KeyObject) => SCHEMES[algorithmOf(key) as keyof typeof SCHEMES] ?? SCHEMES.rsa;

/** The signature algorithm of a key, in DER. */
export const signatureAlgorithmOf = (key: KeyObject): Buffer =>
  Buffer.from(AsnConvert.serialize(schemeOf(key).identifier));

/**
 * Signs content as an authority: content, algorithm and signature in one sequence. Signs in another thread.
 *
 * @param more values after the signature
 */
export async function signedSequence(
  content: Uint8Array,
  key: KeyObject,
  ...more: readonly Uint8Array[]
): Promise<Buffer> {
  const signature = await signBeside(schemeOf(key).hash, content, key);
  return sequence(content, signatureAlgorithmOf(key), tlv(0x03, Buffer.of(0), signature), ...more);
}

/** The subject of a certificate, in its original DER encoding. */
export function subjectOf(certificate: X509Certificate): Buffer {
  const [content] = partsOf(certificate.raw) as [Buffer];
  const parts = partsOf(content);
  // X.509 version 1 omits the version.
  return parts[parts[0]?.[0] === 0xa0 ? 5 : 4] as Buffer;
}

/** SHA-1 of a public key without its algorithm: the usual key identifier (RFC 5280, section 4.2.1.2). */
export const keyHash = (publicKey: KeyObject, hash = 'sha1'): Buffer =>
  createHash(hash)
    .update(contentOf(partsOf(spkiOf(publicKey))[1] as Buffer).subarray(1))
    .digest();

/** A serial number as an INTEGER in DER. @param text positive, in hexadecimal, in the format of Node */
export function serialInteger(text: string): Buffer {
  const bytes = Buffer.from(text.length % 2 === 0 ? text : `0${text}`, 'hex');
  return tlv(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.of(), bytes);
}

/** A serial number in the format of Node. @param bytes content of the INTEGER, without its tag */
export const serialText = (bytes: ArrayBuffer): string =>
  Buffer.from(bytes)
    .toString('hex')
    .toUpperCase()
    .replace(/^(?:00)+(?=..)/, '');
