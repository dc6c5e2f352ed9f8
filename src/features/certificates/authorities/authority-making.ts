import type { X509Certificate } from 'node:crypto';
import type { Transaction } from '../../../kernel/context.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import type { ProjectAccess } from '../../projects/public.js';
import { openSigningKey } from '../key-sealing.js';
import { refuse } from '../shared-checks.js';
import { factsOf } from '../x509/facts.js';
import type { KeyPair } from '../x509/keys.js';
import {
  makeAuthorityRequest,
  makeIntermediate,
  makeRenewal,
  makeRenewalRequest,
  makeRoot,
  subjectText,
} from '../x509/making.js';
import { toPem } from '../x509/pem.js';
import type { CertificateAuthority } from './authority.entity.js';
import { type AuthorityKind, type NewAuthority, USUAL_DAYS } from './authority.rules.js';
import { keepCertificate } from './authority-records.js';
import { loadIssuer, pathLengthBelow, refuseStraySubtrees, validityOf } from './issuer.js';
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
export async function issue(
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
  const validity = validityOf({ now, end: parent?.notAfter ?? null }, input, USUAL_DAYS[kind]);
  const bounds = {
    maxPathLength: parent === null ? wanted : pathLengthBelow(parent, wanted, 'parentId'),
    nameConstraints,
  };
  if (parent !== null) refuseStraySubtrees(parent, nameConstraints);
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
  refuse(
    fieldsOf(life).map((path) => ({
      path,
      code: 'INVALID',
      message: 'must be absent: an external authority issues it',
    })),
  );

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
export async function renewed(
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
  const validity = validityOf({ now, end: parent?.notAfter ?? null }, life, USUAL_DAYS[kind]);
  const made = await makeRenewal(old, privateKey, parent, validity);
  keepCertificate(tx, authority);
  return {
    certificate: toPem('CERTIFICATE', made.raw),
    chain: parent?.chainBelow ?? '',
    serialNumber: factsOf(made).serialNumber,
    ...validity,
  };
}
