import type { X509Certificate } from 'node:crypto';
import type { Transaction } from '../../../kernel/context.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { refuseViolations } from '../../../kernel/validation.js';
import type { ProjectAccess } from '../../projects/public.js';
import { openSigningKey } from '../key-sealing.js';

import { type Bundle, readBundle } from '../x509/bundle.js';
import type { AuthorityRequest } from '../x509/csr.js';
import { type CertificateFacts, factsOf, inventoryColumns } from '../x509/facts.js';
import type { KeyPair } from '../x509/keys.js';
import {
  isRequestOf,
  makeAuthorityRequest,
  makeIntermediate,
  makeRenewal,
  makeRenewalRequest,
  makeRoot,
  subjectText,
} from '../x509/making.js';
import { type NameConstraints, nameConstraintsOf } from '../x509/name-constraints.js';
import { toPem } from '../x509/pem.js';
import { type CertificateAuthority, CertificateAuthorityHistory } from './authority.entity.js';
import { type AuthorityKind, DEFAULT_DAYS, type NewAuthority } from './authority.rules.js';
import { loadIssuer, pathLengthBelow, refuseSubtreesOutside, validityOf } from './issuer.js';
import { fieldsOf, type Lifetime } from './lifetime.rules.js';

/** Certificate of a new authority, or its certificate request. */
interface Issued {
  readonly status: 'active' | 'pending';
  readonly parentId: string | null;
  /** In the format of RFC 4514. */
  readonly subject: string;
  readonly request: string | null;
  readonly certificate: string | null;
  readonly chain: string;
  readonly serialNumber: string | null;
  readonly notBefore: Date | null;
  readonly notAfter: Date | null;
  readonly maxPathLength: number | null;
}

/**
 * Makes the certificate of a new authority with this key, or its request if the issuer is external.
 *
 * @throws VALIDATION_FAILED for a longer validity or path length, or other names, than the parent allows; as `loadIssuer` about the parent
 */
export async function issueAuthority(
  tx: Transaction,
  project: ProjectAccess,
  input: NewAuthority,
  pair: KeyPair,
): Promise<Issued> {
  const { kind, parentId = null, subject, maxPathLength: wanted = null, nameConstraints } = input;
  if (kind === 'intermediate' && parentId === null) {
    refuseLifetime(input);
    return {
      ...REQUESTED,
      subject: subjectText(subject),
      request: await makeAuthorityRequest(subject, pair, { maxPathLength: wanted, nameConstraints }),
      maxPathLength: wanted,
    };
  }
  const parent = parentId === null ? null : await loadIssuer(tx, project, parentId);
  const now = parent?.now ?? (await databaseNow(tx));
  const validity = validityOf({ now, end: parent?.notAfter ?? null }, input, DEFAULT_DAYS[kind]);
  const bounds = {
    maxPathLength: parent === null ? wanted : pathLengthBelow(parent, wanted, 'parentId'),
    nameConstraints,
  };
  if (parent !== null) refuseSubtreesOutside(parent, nameConstraints);
  const made =
    parent === null
      ? await makeRoot(subject, pair, { ...validity, ...bounds })
      : await makeIntermediate(subject, pair.publicKey, parent, { ...validity, ...bounds });
  return {
    status: 'active',
    parentId: parent?.id ?? null,
    subject: subjectText(subject),
    request: null,
    certificate: toPem('CERTIFICATE', made.raw),
    chain: parent?.chainBelow ?? '',
    serialNumber: factsOf(made).serialNumber,
    ...validity,
    maxPathLength: bounds.maxPathLength,
  };
}

/** How long a certificate is valid that an external authority issues is for that one to say. */
const refuseLifetime = (life: Lifetime): void =>
  refuseViolations(fieldsOf(life).map((path) => invalid(path, 'must be absent: an external authority issues it')));

const REQUESTED = {
  status: 'pending',
  parentId: null,
  certificate: null,
  chain: '',
  serialNumber: null,
  notBefore: null,
  notAfter: null,
} as const;

/**
 * Makes a new certificate with the key of an authority, and keeps the old one; or a request if the issuer is external.
 *
 * @returns the changes of the authority
 * @throws SEALED_VALUE_INVALID; as `loadIssuer` about the parent
 */
export async function renewAuthority(
  tx: Transaction,
  authority: CertificateAuthority,
  old: X509Certificate,
  life: Lifetime,
): Promise<object> {
  const { organizationId, projectId, parentId = null } = authority;
  const scope = { organizationId, projectId };
  const privateKey = await openSigningKey(tx, scope, { id: authority.id, keySealed: authority.keySealed });
  const kind = authority.kind as AuthorityKind;
  if (kind === 'intermediate' && parentId === null) {
    refuseLifetime(life);
    return { request: await makeRenewalRequest(old, privateKey) };
  }
  const parent = parentId === null ? null : await loadIssuer(tx, scope, parentId);
  const now = parent?.now ?? (await databaseNow(tx));
  const validity = validityOf({ now, end: parent?.notAfter ?? null }, life, DEFAULT_DAYS[kind]);
  const made = await makeRenewal(old, privateKey, parent, validity);
  storeFormerCertificate(tx, authority);
  return {
    certificate: toPem('CERTIFICATE', made.raw),
    chain: parent?.chainBelow ?? '',
    serialNumber: factsOf(made).serialNumber,
    ...validity,
  };
}

/** Stores the certificate of an authority as a former one with the next flush, which gives it another. */
export function storeFormerCertificate(tx: Transaction, authority: CertificateAuthority): void {
  const { id: authorityId, organizationId, projectId, parentId, chain } = authority;
  const { certificate, serialNumber, notBefore, notAfter } = authority;
  if (certificate == null || serialNumber == null || notBefore == null || notAfter == null) return;
  tx.em.create(CertificateAuthorityHistory, {
    ...{ id: newId(), organizationId, projectId, authorityId, parentId },
    ...{ certificate, chain, serialNumber, notBefore, notAfter },
  });
}

/** What an authority gets from the response to its certificate request. */
interface IssuedByOther {
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
export function readIssuedCertificate(
  given: { readonly certificate: string; readonly chain: string },
  request: string,
  now: Date,
): IssuedByOther {
  const texts = [{ path: 'certificate', text: given.certificate }];
  const bundle = readBundle(given.chain === '' ? texts : [...texts, { path: 'chain', text: given.chain }]);
  const facts = factsOf(bundle.leaf);
  refuseViolations([
    ...faultsOf(bundle, facts, request, now),
    ...faultsOfIssuers(bundle.chain),
    ...faultsOfConstraints(bundle),
  ]);
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

function faultsOf({ leaf, privateKey }: Bundle, facts: CertificateFacts, request: string, now: Date): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  if (privateKey !== null) faults.push(invalid('certificate', 'must not contain a private key'));
  if (!isRequestOf(request, leaf)) faults.push(invalid('certificate', 'must be issued for the key of the request'));
  if (!facts.isCa) faults.push(invalid('certificate', 'must be a CA certificate (CA:TRUE)'));
  else if (!maySign(facts)) faults.push(invalid('certificate', 'must have the key usage keyCertSign'));
  if (facts.notAfter <= now) faults.push(invalid('certificate', 'must not have expired'));
  return faults;
}

/** Name constraints that cannot be parsed could not be enforced. */
const faultsOfConstraints = ({ leaf, chain }: Bundle): ErrorDetail[] =>
  [leaf, ...chain].flatMap((certificate, at) => {
    try {
      nameConstraintsOf(certificate);
      return [];
    } catch {
      return [invalid(at === 0 ? 'certificate' : 'chain', 'must have name constraints that can be parsed')];
    }
  });

/** Without a key usage extension every usage is allowed. */
const maySign = ({ keyUsages }: CertificateFacts): boolean =>
  keyUsages.length === 0 || keyUsages.includes('keyCertSign');

function faultsOfIssuers(chain: readonly X509Certificate[]): ErrorDetail[] {
  return chain.flatMap((certificate, at) => {
    const facts = factsOf(certificate);
    if (!facts.isCa || !maySign(facts)) return [invalid('chain', 'must contain only CA certificates')];
    // Below the nearest issuer there is one authority: this one.
    return facts.pathLength !== null && facts.pathLength < at + 1
      ? [invalid('chain', 'must contain issuers whose path length (pathlen) allows an authority below them')]
      : [];
  });
}

/** What is to be signed, by which authority, and what the certificate allows. */
interface Terms extends Lifetime {
  readonly authorityId: string;
  readonly request: AuthorityRequest;
  readonly maxPathLength?: number | null | undefined;
  readonly nameConstraints?: NameConstraints | null | undefined;
}

/**
 * Signs the request of an external authority.
 *
 * @returns columns of the certificate
 * @throws VALIDATION_FAILED for more than the issuer allows; as `loadIssuer`
 */
export async function signRequest(
  tx: Transaction,
  project: ProjectAccess,
  { authorityId, request, maxPathLength = null, nameConstraints, ...life }: Terms,
) {
  const issuer = await loadIssuer(tx, project, authorityId);
  refuseSubtreesOutside(issuer, nameConstraints);
  const made = await makeIntermediate(request.subject, request.publicKey, issuer, {
    ...validityOf({ now: issuer.now, end: issuer.notAfter }, life, DEFAULT_DAYS.intermediate),
    ...{ nameConstraints, maxPathLength: pathLengthBelow(issuer, maxPathLength, 'authorityId') },
  });
  return {
    ...inventoryColumns(made),
    authorityId: issuer.id,
    chain: issuer.chainBelow,
  };
}
