import 'reflect-metadata';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Name, Pkcs10CertificateRequest } from '@peculiar/x509';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { HAS_NO_CONTROL_CHARACTERS, isStorable } from '../../../kernel/text-rules.js';
import { validationFailed } from '../../../kernel/validation.js';
import { faultOfKey } from './csr.js';
import { algorithmOf, KEY_ALGORITHMS } from './keys.js';
import { faultAt, type PemText, readPem } from './pem.js';

const LABELS = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];
const MAX_COMMON_NAME = 64;

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
  const read = LABELS.includes(block.label) && second === undefined ? requestOf(block.der) : null;
  if (read === null) throw validationFailed([faultAt(block, 'must be one certificate request')]);
  const { request, publicKey } = read;
  const commonName = request.subjectName.getField('CN')[0] ?? '';
  const weakness = faultOfKey(publicKey);
  if (!KEY_ALGORITHMS.some((known) => known === algorithmOf(publicKey)))
    faults.push(faultAt(block, 'must have an RSA key with 2048, 3072 or 4096 bits, or a P-256, P-384 or Ed25519 key'));
  else if (weakness !== null) faults.push(faultAt(block, weakness));
  // A signature that cannot be verified proves nothing.
  else if (!(await request.verify().catch(() => false))) faults.push(faultAt(block, 'must be signed by its own key'));
  const isText = isStorable(request.subjectName.toString()) && HAS_NO_CONTROL_CHARACTERS.test(commonName);
  if (commonName === '' || commonName.length > MAX_COMMON_NAME || !isText)
    faults.push(faultAt(block, 'must have a subject with a common name of 1 to 64 characters'));
  if (faults.length > 0) throw validationFailed(faults);
  return { subject: request.subjectName, commonName, publicKey };
}

/** Null if it throws: messages of parsers may repeat the input. */
function requestOf(der: Buffer): { readonly request: Pkcs10CertificateRequest; readonly publicKey: KeyObject } | null {
  try {
    const request = new Pkcs10CertificateRequest(der);
    const publicKey = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
    return request.rawData.byteLength === der.length ? { request, publicKey } : null;
  } catch {
    return null;
  }
}
