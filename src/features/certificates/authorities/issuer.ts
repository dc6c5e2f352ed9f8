import { X509Certificate } from 'node:crypto';
import type { Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { validationFailed } from '../../../kernel/validation.js';
import type { ProjectAccess } from '../../projects/public.js';
import { openSigningKey } from '../key-sealing.js';
import { urlsOf } from '../revocation/public-documents.js';
import { refuse } from '../shared-checks.js';
import type { Issuer, Validity } from '../x509/making.js';
import { faultsOfSubtrees, type NameConstraints } from '../x509/name-constraints.js';
import { readPem } from '../x509/pem.js';
import { holdIssuer } from './authority.sql.js';

const DAY_MS = 86_400_000;

/** An authority that may issue now. */
export interface HeldIssuer extends Issuer {
  readonly id: string;
  readonly notAfter: Date;
  /** Null: any. */
  readonly maxPathLength: number | null;
  /** Its own certificate, and those of its issuers, as PEM: the chain of what it issues. */
  readonly chainBelow: string;
  /** The same, as they are read: what `faultsOfNameConstraints` looks at. */
  readonly chain: readonly X509Certificate[];
  /** The time of the database. */
  readonly now: Date;
}

/**
 * An authority of a project with its key, which stays as it is until the transaction ends.
 *
 * @throws CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_AUTHORITY_PENDING, CERTIFICATE_AUTHORITY_DISABLED,
 *   CERTIFICATE_AUTHORITY_REVOKED, CERTIFICATE_AUTHORITY_EXPIRED, SEALED_VALUE_INVALID
 */
export async function loadIssuer(
  tx: Transaction,
  project: Pick<ProjectAccess, 'organizationId' | 'projectId'>,
  id: string,
): Promise<HeldIssuer> {
  const [row] = isId(id) ? await holdIssuer(tx, { id, projectId: project.projectId }) : [];
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
    urls: tx.publicUrl === null ? null : urlsOf(tx.publicUrl, row.id),
    notAfter,
    maxPathLength: row.maxPathLength,
    chainBelow: certificate + row.chain,
    chain: readPem({ path: '', text: certificate + row.chain }, []).map(({ der }) => new X509Certificate(der)),
    now: row.now,
  };
}

/** @throws VALIDATION_FAILED for permitted names of an authority of which its issuers permit none */
export function refuseStraySubtrees({ chain }: HeldIssuer, constraints: NameConstraints | null | undefined): void {
  const permitted = (constraints?.permitted ?? []).map((subtree, at) => ({
    ...subtree,
    path: `nameConstraints.permitted.${at}.value`,
  }));
  refuse(faultsOfSubtrees(chain, permitted));
}

/**
 * The path length of an authority below another one.
 *
 * @param path where that was named
 * @throws VALIDATION_FAILED where the parent may have no authority below it, or none with so many below that
 */
export function pathLengthBelow(
  { maxPathLength: ofParent }: HeldIssuer,
  wanted: number | null,
  path: string,
): number | null {
  if (ofParent === null) return wanted;
  if (ofParent === 0)
    throw validationFailed([
      { path, code: 'INVALID', message: 'must be an authority that may have authorities below it' },
    ]);
  if (wanted !== null && wanted >= ofParent)
    throw validationFailed([{ path: 'maxPathLength', code: 'TOO_BIG', message: `must be at most ${ofParent - 1}` }]);
  return wanted ?? ofParent - 1;
}

/**
 * From now on, for so many days. Nothing outlives its issuer: who asks for longer is refused, and who does not say how long gets as
 * long as there is.
 *
 * @param usual days of what nobody says
 * @param end of the issuer; null: there is none
 * @throws VALIDATION_FAILED for days beyond the end
 */
export function validityOf(
  { now, end }: { readonly now: Date; readonly end: Date | null },
  validDays: number | null | undefined,
  usual: number,
): Validity {
  // Certificates have whole seconds.
  const notBefore = new Date(Math.floor(now.getTime() / 1_000) * 1_000);
  const wanted = new Date(notBefore.getTime() + (validDays ?? usual) * DAY_MS);
  if (end === null || wanted <= end) return { notBefore, notAfter: wanted };
  if (validDays == null) return { notBefore, notAfter: end };
  const days = Math.floor((end.getTime() - notBefore.getTime()) / DAY_MS);
  throw validationFailed([
    {
      path: 'validDays',
      code: 'TOO_BIG',
      message: `must not outlive the issuer, whose certificate is valid for ${days} more days`,
    },
  ]);
}
