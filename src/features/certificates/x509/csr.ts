import 'reflect-metadata';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { Name, Pkcs10CertificateRequest } from '@peculiar/x509';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { refuseViolations, validationFailed } from '../../../kernel/validation.js';
import { HAS_NO_CONTROL_CHARACTERS, isStorable } from '../../../kernel/value-rules.js';
import { type ParsedContent, parseContent } from './facts.js';
import { algorithmOf, KEY_ALGORITHMS } from './keys.js';
import { nullIfThrows, type PemText, readPem, violationAtBlock } from './pem.js';

const LABELS = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];
const OTHER_KEYS = ['ec-p256', 'ec-p384', 'ed25519'];
const MAX_COMMON_NAME = 64;
const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 8_192;
const MIN_RSA_EXPONENT = 65_537n;

/** A certificate request whose signature proves that the sender has the key. */
export interface Csr extends ParsedContent {
  readonly publicKey: KeyObject;
  /** In the format of `algorithmOf`. */
  readonly keyAlgorithm: string;
}

/**
 * Parses a PKCS#10 certificate request and verifies its signature.
 *
 * @throws VALIDATION_FAILED if it is not one PEM block with a valid request, if its key is too weak or not supported, and if its signature
 *   is invalid
 */
export async function readCsr(text: PemText): Promise<Csr> {
  const faults: ErrorDetail[] = [];
  const blocks = readPem(text, faults);
  for (const block of blocks.filter(({ label }) => !LABELS.includes(label)))
    faults.push(violationAtBlock(block, 'contains a PEM block that is not a certificate request'));
  const [block, second] = blocks.filter(({ label }) => LABELS.includes(label));
  if (second !== undefined) faults.push(violationAtBlock(second, 'contains a second certificate request'));
  if (block === undefined || faults.length > 0) throw validationFailed(faults);
  const read = nullIfThrows(() => csrOf(block.der));
  if (read === null)
    throw validationFailed([violationAtBlock(block, 'contains a certificate request that cannot be parsed')]);
  const weakness = keyViolation(read.csr.publicKey);
  if (weakness !== null) faults.push(violationAtBlock(block, weakness));
  // A signature that cannot be verified proves nothing.
  else if (!(await read.request.verify().catch(() => false)))
    faults.push(violationAtBlock(block, 'contains a certificate request with an invalid signature'));
  refuseViolations(faults);
  return read.csr;
}

function csrOf(der: Buffer): { readonly request: Pkcs10CertificateRequest; readonly csr: Csr } {
  const { request, publicKey } = requestOf(der);
  const stated = parseContent(
    new Name(request.subjectName.toArrayBuffer()),
    request.extensions.map(({ type, value }) => ({ id: type, value })),
  );
  return { request, csr: { ...stated, publicKey, keyAlgorithm: algorithmOf(publicKey) } };
}

/** The request of an external authority. Its extensions are ignored: the signer decides what the authority may do. */
export interface AuthorityRequest {
  readonly subject: Name;
  readonly commonName: string;
  readonly publicKey: KeyObject;
}

/**
 * Parses a PEM request and verifies its signature, which proves that the sender has the key.
 *
 * @throws VALIDATION_FAILED if it is no certificate request, if its signature is invalid, for a kind of key that this service does not
 *   generate, and for a subject without a common name of 1 to 64 characters
 */
export async function readAuthorityRequest(text: PemText): Promise<AuthorityRequest> {
  const faults: ErrorDetail[] = [];
  const [block, second] = readPem(text, faults);
  if (faults.length > 0 || block === undefined) throw validationFailed(faults);
  const isOne = LABELS.includes(block.label) && second === undefined;
  const read = isOne ? nullIfThrows(() => requestOf(block.der)) : null;
  if (read === null) throw validationFailed([violationAtBlock(block, 'must be one certificate request')]);
  const { request, publicKey } = read;
  const commonName = request.subjectName.getField('CN')[0] ?? '';
  const weakness = keyViolation(publicKey);
  if (!KEY_ALGORITHMS.some((known) => known === algorithmOf(publicKey)))
    faults.push(
      violationAtBlock(block, 'must have an RSA key with 2048, 3072 or 4096 bits, or a P-256, P-384 or Ed25519 key'),
    );
  else if (weakness !== null) faults.push(violationAtBlock(block, weakness));
  // A signature that cannot be verified proves nothing.
  else if (!(await request.verify().catch(() => false)))
    faults.push(violationAtBlock(block, 'must be signed by its own key'));
  const isText = isStorable(request.subjectName.toString()) && HAS_NO_CONTROL_CHARACTERS.test(commonName);
  if (commonName === '' || commonName.length > MAX_COMMON_NAME || !isText)
    faults.push(violationAtBlock(block, 'must have a subject with a common name of 1 to 64 characters'));
  refuseViolations(faults);
  return { subject: request.subjectName, commonName, publicKey };
}

/** @throws Error for what is no request, or more than one */
function requestOf(der: Buffer): { readonly request: Pkcs10CertificateRequest; readonly publicKey: KeyObject } {
  const request = new Pkcs10CertificateRequest(der);
  if (request.rawData.byteLength !== der.length) throw new Error('trailing bytes after the request');
  const publicKey = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
  return { request, publicKey };
}

/** The error of a public key to certify; null if it is acceptable. */
export function keyViolation(key: KeyObject): string | null {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType !== 'rsa')
    return OTHER_KEYS.includes(algorithmOf(key)) ? null : 'must have an RSA, P-256, P-384 or Ed25519 key';
  if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS)
    return `must have an RSA key of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`;
  return publicExponent < MIN_RSA_EXPONENT
    ? `must have an RSA key with an exponent of at least ${MIN_RSA_EXPONENT}`
    : null;
}
