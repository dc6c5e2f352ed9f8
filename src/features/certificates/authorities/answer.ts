import type { X509Certificate } from 'node:crypto';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { refuse } from '../shared-checks.js';
import { type Bundle, readBundle } from '../x509/bundle.js';
import { type CertificateFacts, factsOf } from '../x509/facts.js';
import { isRequestOf } from '../x509/making.js';
import { nameConstraintsOf } from '../x509/name-constraints.js';
import { toPem } from '../x509/pem.js';

/** What an authority gets from the answer to its request. */
interface Answer {
  readonly certificate: string;
  readonly chain: string;
  readonly subject: string;
  readonly commonName: string;
  readonly serialNumber: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly maxPathLength: number | null;
}

/**
 * The certificate that an outside authority has made from a request, and its issuers. What the certificate says counts, also where the
 * request asked for something else: its name, its time and its path length.
 *
 * @param now by the clock of the database
 * @throws VALIDATION_FAILED for what `readBundle` refuses, a private key, another key than that of the request, a certificate that may
 *   not sign certificates or has ended, and issuers that allow no such authority
 */
export function answerOf(
  given: { readonly certificate: string; readonly chain: string },
  request: string,
  now: Date,
): Answer {
  const texts = [{ path: 'certificate', text: given.certificate }];
  const bundle = readBundle(given.chain === '' ? texts : [...texts, { path: 'chain', text: given.chain }]);
  const facts = factsOf(bundle.leaf);
  refuse([...faultsOf(bundle, facts, request, now), ...faultsOfIssuers(bundle.chain), ...faultsOfConstraints(bundle)]);
  const { subject, commonName, serialNumber, notBefore, notAfter, pathLength } = facts;
  return {
    certificate: pemOf(bundle.leaf),
    chain: bundle.chain.map(pemOf).join(''),
    subject,
    commonName,
    serialNumber,
    notBefore,
    notAfter,
    maxPathLength: pathLength,
  };
}

const pemOf = (certificate: X509Certificate): string => toPem('CERTIFICATE', certificate.raw);

const fault = (path: string, message: string): ErrorDetail => ({ path, code: 'INVALID', message });

function faultsOf({ leaf, privateKey }: Bundle, facts: CertificateFacts, request: string, now: Date): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  if (privateKey !== null) faults.push(fault('certificate', 'must come without a private key'));
  if (!isRequestOf(request, leaf)) faults.push(fault('certificate', 'must be for the key of the request'));
  if (!facts.isCa) faults.push(fault('certificate', 'must be that of an authority (CA:TRUE)'));
  else if (!maySign(facts)) faults.push(fault('certificate', 'must allow to sign certificates (keyCertSign)'));
  if (facts.notAfter <= now) faults.push(fault('certificate', 'must not have expired'));
  return faults;
}

/** What cannot be read could not be kept to. */
const faultsOfConstraints = ({ leaf, chain }: Bundle): ErrorDetail[] =>
  [leaf, ...chain].flatMap((certificate, at) => {
    try {
      nameConstraintsOf(certificate);
      return [];
    } catch {
      return [fault(at === 0 ? 'certificate' : 'chain', 'must have name constraints that can be read')];
    }
  });

/** Without any key usage every one is allowed. */
const maySign = ({ keyUsages }: CertificateFacts): boolean =>
  keyUsages.length === 0 || keyUsages.includes('keyCertSign');

function faultsOfIssuers(chain: readonly X509Certificate[]): ErrorDetail[] {
  return chain.flatMap((certificate, at) => {
    const facts = factsOf(certificate);
    if (!facts.isCa || !maySign(facts)) return [fault('chain', 'must have certificates of authorities only')];
    // Below the nearest one there is one authority: this one.
    return facts.pathLength !== null && facts.pathLength < at + 1
      ? [fault('chain', 'must have issuers that allow an authority below them (pathlen)')]
      : [];
  });
}
