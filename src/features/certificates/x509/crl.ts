import 'reflect-metadata';
import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AuthorityKeyIdentifier,
  CRLReasons,
  id_ce_authorityKeyIdentifier,
  id_ce_cRLNumber,
  id_ce_cRLReasons,
  KeyIdentifier,
  Time,
} from '@peculiar/asn1-x509';
import { mapYielding } from '../../../kernel/event-loop.js';
import { contentOf, partsOf, sequence, tlv } from './der.js';
import { factsOf } from './facts.js';
import { algorithmOf, spkiOf } from './keys.js';
import type { Issuer } from './making.js';

/** A revoked certificate. */
export interface Revocation {
  /** Upper-case hexadecimal. */
  readonly serialNumber: string;
  readonly revokedAt: Date;
  /** With the name of RFC 5280. */
  readonly reason: string;
}

/** The content of a revocation list. */
interface ListContent {
  readonly number: number;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date;
  readonly revocations: readonly Revocation[];
}

/**
 * Encodes and signs a revocation list in DER (RFC 5280, section 5). Yields to the event loop between entries, of which there may be a
 * hundred thousand.
 */
export async function makeRevocationList(issuer: Issuer, content: ListContent): Promise<Buffer> {
  const { number, thisUpdate, nextUpdate } = content;
  const entries = await mapYielding(content.revocations, ({ serialNumber, revokedAt, reason }) =>
    sequence(serialInteger(serialNumber), time(revokedAt), ...reasonOf(reason)),
  );
  const keyId = factsOf(issuer.certificate).subjectKeyIdentifier;
  const authorityKey = new AuthorityKeyIdentifier({
    keyIdentifier: new KeyIdentifier(
      keyId === null ? keyHash(issuer.certificate.publicKey) : Buffer.from(keyId, 'hex'),
    ),
  });
  const signed = sequence(
    tlv(0x02, Buffer.of(1)),
    signatureAlgorithmOf(issuer.privateKey),
    subjectOf(issuer.certificate),
    time(thisUpdate),
    time(nextUpdate),
    // An empty sequence is not allowed.
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
    tlv(
      0xa0,
      sequence(
        extension(id_ce_authorityKeyIdentifier, Buffer.from(AsnConvert.serialize(authorityKey))),
        extension(id_ce_cRLNumber, serialInteger(number.toString(16))),
      ),
    ),
  );
  return signedSequence(signed, issuer.privateKey);
}

const time = (at: Date): Buffer => Buffer.from(AsnConvert.serialize(new Time(at)));

const extension = (id: string, value: Buffer): Buffer => sequence(objectId(id), tlv(0x04, value));

/** All of these OIDs are in the arc 2.5.29 (RFC 5280). */
const objectId = (id: string): Buffer => tlv(0x06, Buffer.of(0x55, 0x1d, Number(id.split('.')[3])));

/** For `unspecified` the extension is omitted (RFC 5280, section 5.3.1). */
const reasonOf = (reason: string): Buffer[] => {
  const code = reasonCode(reason);
  return code === 0 ? [] : [sequence(extension(id_ce_cRLReasons, tlv(0x0a, Buffer.of(code))))];
};

/** Number of a reason; 0 for `unspecified`. */
export const reasonCode = (reason: string): number => CRLReasons[reason as keyof typeof CRLReasons] ?? 0;

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
const signatureAlgorithmOf = (key: KeyObject): Buffer => Buffer.from(AsnConvert.serialize(schemeOf(key).identifier));

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
