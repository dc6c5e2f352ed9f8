import type { X509Certificate } from 'node:crypto';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { refuse } from '../shared-checks.js';
import { type Bundle, readBundle } from '../x509/bundle.js';
import { type CertificateFacts, factsOf } from '../x509/facts.js';
import { isRequestOf } from '../x509/making.js';
import { nameConstraintsOf } from '../x509/name-constraints.js';
import { toPem } from '../x509/pem.js';

/** What an authority gets from the response to its certificate request. */
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
 * Reads the certificate that an external authority issued for a request, with its issuers. The certificate is authoritative, even if the
 * request asked for something else: subject, validity and path length.
 *
 * @param now time of the database
 * @throws VALIDATION_FAILED as `readBundle`, and for a private key, another key than that of the request, a certificate that cannot sign
 *   certificates or has expired, and issuers that do not allow such an authority
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
  if (privateKey !== null) faults.push(fault('certificate', 'must not contain a private key'));
  if (!isRequestOf(request, leaf)) faults.push(fault('certificate', 'must be issued for the key of the request'));
  if (!facts.isCa) faults.push(fault('certificate', 'must be a CA certificate (CA:TRUE)'));
  else if (!maySign(facts)) faults.push(fault('certificate', 'must have the key usage keyCertSign'));
  if (facts.notAfter <= now) faults.push(fault('certificate', 'must not have expired'));
  return faults;
}

/** Name constraints that cannot be parsed could not be enforced. */
const faultsOfConstraints = ({ leaf, chain }: Bundle): ErrorDetail[] =>
  [leaf, ...chain].flatMap((certificate, at) => {
    try {
      nameConstraintsOf(certificate);
      return [];
    } catch {
      return [fault(at === 0 ? 'certificate' : 'chain', 'must have name constraints that can be parsed')];
    }
  });

/** Without a key usage extension every usage is allowed. */
const maySign = ({ keyUsages }: CertificateFacts): boolean =>
  keyUsages.length === 0 || keyUsages.includes('keyCertSign');

function faultsOfIssuers(chain: readonly X509Certificate[]): ErrorDetail[] {
  return chain.flatMap((certificate, at) => {
    const facts = factsOf(certificate);
    if (!facts.isCa || !maySign(facts)) return [fault('chain', 'must contain only CA certificates')];
    // Below the nearest issuer there is one authority: this one.
    return facts.pathLength !== null && facts.pathLength < at + 1
      ? [fault('chain', 'must contain issuers whose path length (pathlen) allows an authority below them')]
      : [];
  });
}
