import type { Transaction } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import type { CertificateAuthority } from './authority.entity.js';
import { CertificateAuthorityHistory } from './authority-history.entity.js';

/** Records a change of an authority in the audit trail. */
export const record = (
  tx: Transaction,
  action: string,
  { id, projectId, version }: { readonly id: string; readonly projectId: string; readonly version: number },
  facts: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { authorityId: id, version, ...facts } });

/** Stores the certificate of an authority as a former one with the next flush, which gives it another. */
export function keepCertificate(tx: Transaction, authority: CertificateAuthority): void {
  const { id: authorityId, organizationId, projectId, parentId, chain } = authority;
  const { certificate, serialNumber, notBefore, notAfter } = authority;
  if (certificate == null || serialNumber == null || notBefore == null || notAfter == null) return;
  tx.em.create(CertificateAuthorityHistory, {
    ...{ id: newId(), organizationId, projectId, authorityId, parentId },
    ...{ certificate, chain, serialNumber, notBefore, notAfter },
  });
}
