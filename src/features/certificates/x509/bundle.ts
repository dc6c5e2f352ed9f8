import type { KeyObject, X509Certificate } from 'node:crypto';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { refuseViolations, validationFailed } from '../../../kernel/validation.js';
import { readCertificate } from './facts.js';
import { isPairOf, KEY_TYPES, readPrivateKey } from './keys.js';
import { MAX_PEM_BYTES, nullIfThrows, type PemBlock, type PemText, readPem, violationAtBlock } from './pem.js';

/** A certificate, its issuers from the direct one upwards, and its private key if given. */
export interface Bundle {
  readonly leaf: X509Certificate;
  readonly chain: readonly X509Certificate[];
  readonly privateKey: KeyObject | null;
}

const MAX_CERTIFICATES = 10;
const CERTIFICATE_LABELS = ['CERTIFICATE', 'X509 CERTIFICATE'];
/** Written by tools beside keys; redundant with the key. */
const PASSED_OVER = 'EC PARAMETERS';

/** A parsed block and its location. */
interface Read<T> {
  readonly block: PemBlock;
  readonly value: T;
}

interface Blocks {
  readonly certificates: readonly Read<X509Certificate>[];
  readonly keys: readonly Read<KeyObject>[];
}

/**
 * Parses a certificate, its chain and its private key, in any order in these strings. The certificate is the one that matches the key, or,
 * without a key, the one that issued none of the others.
 *
 * @throws VALIDATION_FAILED with every invalid block: no PEM, no certificate, an encrypted key, several keys, a key of another
 *   certificate, a certificate that is not in the chain, more than 64 KiB
 */
export function readBundle(texts: readonly PemText[]): Bundle {
  const faults: ErrorDetail[] = [];
  const [first] = texts;
  const total = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (total > MAX_PEM_BYTES && texts.every(({ text }) => Buffer.byteLength(text) <= MAX_PEM_BYTES))
    faults.push({
      path: (first as PemText).path,
      code: 'TOO_BIG',
      message: 'must have at most 64 KiB in total',
    });
  const blocks = texts.flatMap((text) => readPem(text, faults));
  return bundleOf((first as PemText).path, blocks, faults);
}

/**
 * The same for parsed blocks.
 *
 * @param path path of their source
 * @param faults errors found so far
 * @throws VALIDATION_FAILED as `readBundle`
 */
export function bundleOf(path: string, blocks: readonly PemBlock[], faults: ErrorDetail[] = []): Bundle {
  const { certificates, keys } = readBlocks(blocks, faults);
  refuseViolations(faults);
  const [key = null] = keys;
  const leaf = leafOf(certificates, key?.value ?? null);
  if (leaf === undefined) throw validationFailed([noLeaf(path, key)]);
  const { chain, others } = chainOf(
    leaf,
    certificates.map(({ value }) => value),
  );
  const strangers = certificates.filter(({ value }) => others.includes(value));
  if (strangers.length > 0)
    throw validationFailed(
      strangers.map(({ block }) => violationAtBlock(block, 'contains a certificate that is not part of the chain')),
    );
  return { leaf, chain, privateKey: key?.value ?? null };
}

function readBlocks(blocks: readonly PemBlock[], faults: ErrorDetail[]): Blocks {
  const certificates: Read<X509Certificate>[] = [];
  const keys: Read<KeyObject>[] = [];
  for (const block of blocks) {
    const { label, der } = block;
    if (CERTIFICATE_LABELS.includes(label)) {
      const value = nullIfThrows(() => readCertificate(der));
      if (value === null) faults.push(violationAtBlock(block, 'contains a certificate that cannot be parsed'));
      // Duplicates are dropped.
      else if (!certificates.some((other) => other.value.raw.equals(value.raw))) certificates.push({ block, value });
    } else if (label in KEY_TYPES) {
      const value = nullIfThrows(() => readPrivateKey(label, der));
      if (value === null) faults.push(violationAtBlock(block, 'contains a private key that cannot be parsed'));
      else if (keys.push({ block, value }) === 2) faults.push(violationAtBlock(block, 'contains a second private key'));
    } else if (label === 'ENCRYPTED PRIVATE KEY')
      faults.push(violationAtBlock(block, 'contains an encrypted private key; decrypt it first'));
    else if (label !== PASSED_OVER)
      faults.push(violationAtBlock(block, 'contains a PEM block that is neither a certificate nor a private key'));
  }
  if (certificates.length > MAX_CERTIFICATES)
    faults.push(
      violationAtBlock(
        (certificates[MAX_CERTIFICATES] as Read<X509Certificate>).block,
        'contains more than 10 certificates',
      ),
    );
  return { certificates, keys };
}

function leafOf(certificates: Blocks['certificates'], key: KeyObject | null): X509Certificate | undefined {
  const values = certificates.map(({ value }) => value);
  if (key !== null) return values.find(({ publicKey }) => isPairOf(key, publicKey));
  const ends = values.filter((one) => !values.some((other) => other !== one && isIssuerOf(one, other)));
  return ends.length === 1 ? ends[0] : undefined;
}

const noLeaf = (path: string, key: Read<KeyObject> | null): ErrorDetail =>
  key === null
    ? invalid(path, 'must contain one certificate and, besides it, only its issuers')
    : violationAtBlock(key.block, 'contains a private key that does not match any of the certificates');

/**
 * The issuers of a certificate among others, from the direct one up to a self-signed one, as far as they are present.
 *
 * @returns also the certificates that are not issuers
 */
function chainOf(
  leaf: X509Certificate,
  given: readonly X509Certificate[],
): { readonly chain: readonly X509Certificate[]; readonly others: readonly X509Certificate[] } {
  const chain: X509Certificate[] = [];
  let others = given.filter((one) => !one.raw.equals(leaf.raw));
  for (let last = leaf; !isSelfSigned(last); ) {
    const issuer = others.find((one) => isIssuerOf(one, last));
    if (issuer === undefined) break;
    chain.push(issuer);
    others = others.filter((one) => one !== issuer);
    last = issuer;
  }
  return { chain, others };
}

/** Whether a certificate is signed with its own key. */
const isSelfSigned = (certificate: X509Certificate): boolean => isIssuerOf(certificate, certificate);

/** Whether a certificate was issued by another one: by name, by key identifiers if present, and by its signature. */
export const isIssuerOf = (issuer: X509Certificate, certificate: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
