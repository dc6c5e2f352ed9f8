import { X509Certificate } from 'node:crypto';
import { raw as sql } from '@mikro-orm/core';
import type { Context } from '../../../kernel/context.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { refuseOtherVersion } from '../../../kernel/number-rules.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { CertificateAuthority } from './authority.entity.js';
import { type AuthorityRow, findAuthorities } from './authority.queries.js';
import { RenewAuthority } from './authority.rules.js';
import { record } from './authority-records.js';

const NOT_FOUND = 'CERTIFICATE_AUTHORITY_NOT_FOUND';

/**
 * Renewal of authorities with the same key.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class AuthorityRenewalService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Issues a new certificate with the same key and subject, so that issued certificates stay valid below it. If the issuer is external, the
   * authority gets a new certificate request, and keeps its certificate until the response is imported.
   *
   * @throws CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_AUTHORITY_PENDING, CERTIFICATE_AUTHORITY_REVOKED, CONCURRENT_CHANGE,
   *   SEALED_VALUE_INVALID; as `loadIssuer` about the parent
   */
  async renew(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { id, expectedVersion, ...life } = parse(RenewAuthority, raw);
    const { renewed } = await import('./authority-making.js');
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(
        tx,
        { id },
        { find: findAuthorities, notFound: NOT_FOUND },
        'certificate-authorities:edit',
      );
      const authority = await lockRow(tx, CertificateAuthority, { id, projectId }, NOT_FOUND);
      refuseOtherVersion(authority.version, expectedVersion);
      if (authority.certificate == null) throw new AppError('CERTIFICATE_AUTHORITY_PENDING');
      if (authority.revokedAt != null) throw new AppError('CERTIFICATE_AUTHORITY_REVOKED');
      tx.em.assign(authority, {
        ...(await renewed(tx, authority, new X509Certificate(authority.certificate), life)),
        version: authority.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx);
      await record(tx, 'certificate-authority:renew', authority);
      return loadRow(tx, findAuthorities, { ids: [authority.id] }, NOT_FOUND);
    });
  }
}
