import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import { type CertificateRow, findCertificates, findCurrent } from '../certificates/certificate.queries.js';
import type { CertificateService, OnCertificateEvent } from '../certificates/certificate.service.js';
import type { ProfileRow } from '../profiles/profile.queries.js';
import type { ProfileService } from '../profiles/profile.service.js';
import { refuse } from '../shared-checks.js';
import { OneLineage, RenewCertificate } from './issue.rules.js';
import type { RequestLog } from './request.service.js';

const NOT_FOUND = 'CERTIFICATE_NOT_FOUND';

/**
 * Renews certificates. A certificate is renewed once; later its renewal is renewed. All of them form a lineage.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class RenewalService {
  constructor(
    private readonly certificates: CertificateService,
    private readonly profiles: ProfileService,
    private readonly log: RequestLog,
    private readonly onEvent: OnCertificateEvent,
  ) {}

  /**
   * Issues a certificate with the content of another one for a new validity period: with the same key, a new one, or that of a PKCS#10
   * request. Callers that can issue the certificate can renew it. The old one stays valid until it expires.
   *
   * @returns the renewal
   * @throws CERTIFICATE_NOT_FOUND, CERTIFICATE_PROFILE_NOT_FOUND; CERTIFICATE_WITHOUT_PROFILE if neither the certificate nor the request
   *   has one; CERTIFICATE_RENEWED if it was renewed already; CERTIFICATE_REVOKED if it is revoked and would keep its key;
   *   CONCURRENT_CHANGE if `expectedVersion` differs; VALIDATION_FAILED with everything that the profile does not allow, and as `readCsr`;
   *   as `loadIssuer` about the authority of the profile
   */
  async renew(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const input = parse(RenewCertificate, raw);
    const text = input.csr == null || input.csr === '' ? null : input.csr;
    if (text !== null)
      refuse(
        (['key', 'keyAlgorithm'] as const)
          .filter((field) => input[field] != null)
          .map((path) => ({ path, code: 'INVALID', message: 'must be absent if csr is set' })),
      );
    const { row, profile } = await this.#load(ctx, input.id, input.profileId);
    const { readCsr } = await import('../x509/csr.js');
    const csr = text === null ? null : await readCsr({ path: 'csr', text });
    const { organizationId, projectId, commonName } = row;
    const by = { profileId: profile.id, profileSlug: profile.slug };
    const details = { organizationId, projectId, ...by, kind: 'renewal', commonName } as const;
    return this.log.storingFailure(ctx, { ...details, certificateId: row.id }, async () => {
      const { perform, prepare } = await import('./renewal.js');
      const prepared = await prepare(
        ctx,
        { row, profile },
        {
          ...{ csr, keyAlgorithm: input.keyAlgorithm ?? null, life: input },
          key: input.key ?? (row.hasPrivateKey ? 'new' : 'same'),
          expectedVersion: input.expectedVersion ?? null,
        },
      );
      return inTransaction(ctx, async (tx) => {
        await this.#load(tx, row.id, profile.id);
        const { id, version } = await perform(tx, prepared);
        await this.log.storeIssued(tx, { ...details, certificateId: row.id }, id);
        await this.onEvent(tx, { certificateId: id, organizationId, projectId, event: 'renewal' });
        await tx.auditTrail.recordChange(tx, {
          action: 'certificate:renew',
          projectId,
          facts: { certificateId: row.id, version, renewalId: id, profileId: profile.id },
        });
        return loadRow(tx, findCertificates, { ids: [id] }, NOT_FOUND);
      });
    });
  }

  /** The most recent unrevoked certificate of a lineage. @throws CERTIFICATE_NOT_FOUND */
  async current(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { lineageId } = parse(OneLineage, raw);
    const [found] = isId(lineageId) ? await findCurrent(ctx, { lineageIds: [lineageId] }) : [];
    return this.certificates.get(ctx, { id: found?.id ?? NO_ID });
  }

  /** Loads the certificate and its profile for a caller that can issue such certificates. */
  async #load(
    ctx: Context,
    id: string,
    wantedProfileId: string | null | undefined,
  ): Promise<{ readonly row: CertificateRow; readonly profile: ProfileRow }> {
    const { row, project } = await this.certificates.load(ctx, id, 'certificates:create');
    authorize(project, 'certificate-profiles:issue-cert');
    for (const commonName of new Set(row.sans)) authorize(project, 'certificates:create', { commonName });
    const profileId = wantedProfileId ?? row.profileId;
    if (profileId === null) throw new AppError('CERTIFICATE_WITHOUT_PROFILE');
    const { row: profile } = await this.profiles.load(ctx, profileId, 'certificate-profiles:issue-cert');
    if (profile.projectId !== row.projectId) throw new AppError('CERTIFICATE_PROFILE_NOT_FOUND');
    return { row, profile };
  }
}
