import { X509Certificate } from 'node:crypto';
import type { Transaction } from '../../../kernel/context.js';
import { AppError, invalid } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { refuseViolations, validationFailed } from '../../../kernel/validation.js';
import type { ProjectAccess } from '../../projects/public.js';
import { openSigningKey } from '../key-sealing.js';
import { publicUrlsOf } from '../revocation/public-documents.js';

import type { Issuer, Validity } from '../x509/making.js';
import { type NameConstraints, subtreeViolations } from '../x509/name-constraints.js';
import { readPem } from '../x509/pem.js';
import { lockIssuer } from './authority.queries.js';
import { DAY_MS, type Lifetime, requestedEnd, violationsOfEnd } from './lifetime.rules.js';

/** The clocks of those who check a new certificate may be behind. */
const BACKDATED_MS = 30_000;

/** An authority that can issue now. */
export interface LockedIssuer extends Issuer {
  readonly id: string;
  readonly notAfter: Date;
  /** Maximum path length; null: unlimited. */
  readonly maxPathLength: number | null;
  /** PEM of its own certificate and its issuers: the chain of issued certificates. */
  readonly chainBelow: string;
  /** The same, parsed, for `nameConstraintViolations`. */
  readonly chain: readonly X509Certificate[];
  /** The time of the database. */
  readonly now: Date;
}

/**
 * Loads an authority of a project with its key, and locks it until the transaction ends.
 *
 * @throws CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_AUTHORITY_PENDING, CERTIFICATE_AUTHORITY_DISABLED,
 *   CERTIFICATE_AUTHORITY_REVOKED, CERTIFICATE_AUTHORITY_EXPIRED, SEALED_VALUE_INVALID
 */
export async function loadIssuer(
  tx: Transaction,
  project: Pick<ProjectAccess, 'organizationId' | 'projectId'>,
  id: string,
): Promise<LockedIssuer> {
  const [row] = isId(id) ? await lockIssuer(tx, { id, projectId: project.projectId }) : [];
  if (row === undefined) throw new AppError('CERTIFICATE_AUTHORITY_NOT_FOUND');
  const { certificate, notAfter } = row;
  if (certificate === null || notAfter === null) throw new AppError('CERTIFICATE_AUTHORITY_PENDING');
  if (row.isRevoked) throw new AppError('CERTIFICATE_AUTHORITY_REVOKED');
  if (row.status === 'disabled') throw new AppError('CERTIFICATE_AUTHORITY_DISABLED');
  if (row.isExpired) throw new AppError('CERTIFICATE_AUTHORITY_EXPIRED');
  return {
    id: row.id,
    certificate: new X509Certificate(certificate),
    privateKey: await openSigningKey(tx, project, row),
    urls: tx.publicUrl === null ? null : publicUrlsOf(tx.publicUrl, row.id),
    notAfter,
    maxPathLength: row.maxPathLength,
    chainBelow: certificate + row.chain,
    chain: readPem({ path: '', text: certificate + row.chain }, []).map(({ der }) => new X509Certificate(der)),
    now: row.now,
  };
}

/** @throws VALIDATION_FAILED for permitted names of an authority outside of those of its issuers */
export function refuseSubtreesOutside({ chain }: LockedIssuer, constraints: NameConstraints | null | undefined): void {
  const permitted = (constraints?.permitted ?? []).map((subtree, at) => ({
    ...subtree,
    path: `nameConstraints.permitted.${at}.value`,
  }));
  refuseViolations(subtreeViolations(chain, permitted));
}

/**
 * The path length of an authority below a parent.
 *
 * @param path path of the parent in the request
 * @throws VALIDATION_FAILED if the parent allows no authority below it, or not with this path length
 */
export function pathLengthBelow(
  { maxPathLength: ofParent }: LockedIssuer,
  wanted: number | null,
  path: string,
): number | null {
  if (ofParent === null) return wanted;
  if (ofParent === 0)
    throw validationFailed([invalid(path, 'must be an authority whose path length allows authorities below it')]);
  if (wanted !== null && wanted >= ofParent)
    throw validationFailed([{ path: 'maxPathLength', code: 'TOO_BIG', message: `must be at most ${ofParent - 1}` }]);
  return wanted ?? ofParent - 1;
}

/**
 * A validity period, which began 30 seconds ago. No certificate outlives its issuer: a longer explicit validity is refused, and the
 * default is cut.
 *
 * @param usual default number of days
 * @param bounds `end`: end of the validity of the issuer, null: none; `maxDays`: limit of the profile
 * @throws VALIDATION_FAILED if the period ends in the past, after the issuer expires, or is too long
 */
export function validityOf(
  { now, end, maxDays = null }: { readonly now: Date; readonly end: Date | null; readonly maxDays?: number | null },
  life: Lifetime,
  usual: number,
): Validity {
  // Certificates have a precision of seconds.
  const notBefore = new Date(Math.floor(now.getTime() / 1_000) * 1_000 - BACKDATED_MS);
  const requested = requestedEnd(life, notBefore);
  if (requested === null) {
    const wanted = new Date(notBefore.getTime() + usual * DAY_MS);
    return { notBefore, notAfter: end === null || wanted <= end ? wanted : end };
  }
  refuseViolations(violationsOfEnd(requested, { from: notBefore, now, maxDays }));
  if (end === null || requested.end <= end) return { notBefore, notAfter: requested.end };
  const days = Math.floor((end.getTime() - notBefore.getTime()) / DAY_MS);
  throw validationFailed([
    {
      path: requested.path,
      code: 'TOO_BIG',
      message: `must not exceed the validity of the issuer, which expires in ${days} days`,
    },
  ]);
}
