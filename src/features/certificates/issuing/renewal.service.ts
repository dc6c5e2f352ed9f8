import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import { type CertificateRow, findCertificates } from '../certificates/certificate.queries.js';
import type { CertificateService } from '../certificates/certificate.service.js';
import type { OnCertificateEvent } from '../certificates/certificate-event.js';
import { findCurrent } from '../certificates/lineage.sql.js';
import type { ProfileRow } from '../profiles/profile.queries.js';
import type { ProfileService } from '../profiles/profile.service.js';
import { refuse } from '../shared-checks.js';
import { readCsr } from '../x509/csr.js';
import { OneLineage, RenewCertificate } from './issue.rules.js';
import { perform, prepare } from './renewal.js';
import type { RequestLog } from './request-log.js';

const NOT_FOUND = 'CERTIFICATE_NOT_FOUND';

/**
 * Renews certificates. Each is renewed once: its renewal is what is renewed next, and all of them are one lineage.
 *
 * Every method that takes `raw`, the input of its rules, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 * Source: decisions 7.7.
 */
export class RenewalService {
  constructor(
    private readonly certificates: CertificateService,
    private readonly profiles: ProfileService,
    private readonly log: RequestLog,
    private readonly onEvent: OnCertificateEvent,
  ) {}

  /**
   * Issues a certificate that says what another one says, for a new time: with the same key, with a new one, or with that of a request
   * in PKCS#10. Who may issue the certificate may renew it. The old one stays valid until it ends.
   *
   * @returns the renewal
   * @throws CERTIFICATE_NOT_FOUND, CERTIFICATE_PROFILE_NOT_FOUND; CERTIFICATE_WITHOUT_PROFILE where neither the certificate nor the
   *   request has one; CERTIFICATE_RENEWED for one that was renewed; CERTIFICATE_REVOKED for a revoked one whose key would stay;
   *   CONCURRENT_CHANGE for another `expectedVersion`; VALIDATION_FAILED for whatever the profile does not allow, and as `readCsr`; as
   *   `loadIssuer` about the authority of the profile
   */
  async renew(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const input = parse(RenewCertificate, raw);
    const text = input.csr == null || input.csr === '' ? null : input.csr;
    if (text !== null)
      refuse(
        (['key', 'keyAlgorithm'] as const)
          .filter((field) => input[field] != null)
          .map((path) => ({ path, code: 'INVALID', message: 'must be absent beside a certificate request' })),
      );
    const { row, profile } = await this.#load(ctx, input.id, input.profileId);
    const csr = text === null ? null : await readCsr({ path: 'csr', text });
    const { organizationId, projectId, commonName } = row;
    const by = { profileId: profile.id, profileSlug: profile.slug };
    const asked = { organizationId, projectId, ...by, kind: 'renewal', commonName } as const;
    return this.log.keepingFailure(ctx, { ...asked, certificateId: row.id }, async () => {
      const prepared = await prepare(
        ctx,
        { row, profile },
        {
          ...{ csr, keyAlgorithm: input.keyAlgorithm ?? null, validDays: input.validDays ?? null },
          key: input.key ?? (row.hasPrivateKey ? 'new' : 'same'),
          expectedVersion: input.expectedVersion ?? null,
        },
      );
      return inTransaction(ctx, async (tx) => {
        await this.#load(tx, row.id, profile.id);
        const { id, version } = await perform(tx, prepared);
        await this.log.keepIssued(tx, { ...asked, certificateId: row.id }, id);
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

  /** The certificate of a lineage that began last and is not revoked. @throws CERTIFICATE_NOT_FOUND */
  async current(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { lineageId } = parse(OneLineage, raw);
    const [found] = isId(lineageId) ? await findCurrent(ctx, { lineageIds: [lineageId] }) : [];
    return this.certificates.get(ctx, { id: found?.id ?? NO_ID });
  }

  /** The certificate and its profile, for who may issue such certificates. */
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
