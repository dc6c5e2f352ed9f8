import 'reflect-metadata';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { Name, Pkcs10CertificateRequest } from '@peculiar/x509';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { validationFailed } from '../../../kernel/validation.js';
import { algorithmOf } from './keys.js';
import { attempt, faultAt, type PemText, readPem } from './pem.js';
import { type Stated, statedBy } from './stated.js';

const LABELS = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];
const OTHER_KEYS = ['ec-p256', 'ec-p384', 'ed25519'];
const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 8_192;
const MIN_RSA_EXPONENT = 65_537n;

/** A request for a certificate, whose sender has proved to have the key. */
export interface Csr extends Stated {
  readonly publicKey: KeyObject;
  /** As `algorithmOf` has it. */
  readonly keyAlgorithm: string;
}

/**
 * Reads a request for a certificate in PKCS#10.
 *
 * @throws VALIDATION_FAILED for a text that is not one such PEM block, a request that cannot be read, a key that is too weak or of
 *   another kind than ours, and a signature that is not by that key
 */
export async function readCsr(text: PemText): Promise<Csr> {
  const faults: ErrorDetail[] = [];
  const blocks = readPem(text, faults);
  for (const block of blocks.filter(({ label }) => !LABELS.includes(label)))
    faults.push(faultAt(block, 'has a PEM block that is no certificate request'));
  const [block, second] = blocks.filter(({ label }) => LABELS.includes(label));
  if (second !== undefined) faults.push(faultAt(second, 'has a second certificate request'));
  if (block === undefined || faults.length > 0) throw validationFailed(faults);
  const read = attempt(() => requestOf(block.der));
  if (read === null) throw validationFailed([faultAt(block, 'has a certificate request that cannot be read')]);
  const weakness = faultOfKey(read.csr.publicKey);
  if (weakness !== null) faults.push(faultAt(block, weakness));
  // What cannot be verified is no proof.
  else if (!(await read.request.verify().catch(() => false)))
    faults.push(faultAt(block, 'has a certificate request with a wrong signature'));
  if (faults.length > 0) throw validationFailed(faults);
  return read.csr;
}

function requestOf(der: Buffer): { readonly request: Pkcs10CertificateRequest; readonly csr: Csr } {
  const request = new Pkcs10CertificateRequest(der);
  if (request.rawData.byteLength !== der.length) throw new Error('there is something behind the request');
  const publicKey = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
  const stated = statedBy(
    new Name(request.subjectName.toArrayBuffer()),
    request.extensions.map(({ type, value }) => ({ id: type, value })),
  );
  return { request, csr: { ...stated, publicKey, keyAlgorithm: algorithmOf(publicKey) } };
}

/** What is wrong with a public key that is to be certified; null when nothing is. */
export function faultOfKey(key: KeyObject): string | null {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType !== 'rsa')
    return OTHER_KEYS.includes(algorithmOf(key)) ? null : 'must have a key of RSA, P-256, P-384 or Ed25519';
  if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS)
    return `must have an RSA key of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`;
  return publicExponent < MIN_RSA_EXPONENT ? `must have an RSA key with an exponent from ${MIN_RSA_EXPONENT}` : null;
}
