import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { findAuthorities } from '../authorities/authority.queries.js';
import { Certificate } from '../certificates/certificate.entity.js';
import { type CertificateRow, findCertificates } from '../certificates/certificate.queries.js';
import type { OnCertificateEvent } from '../certificates/certificate-event.js';
import { SignIntermediate } from './intermediate.rules.js';

const AUTHORITY = { find: findAuthorities, notFound: 'CERTIFICATE_AUTHORITY_NOT_FOUND' } as const;

/** Certificates of external authorities. They are stored in the inventory and revoked there. */
export class IntermediateService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly onEvent: OnCertificateEvent,
  ) {}

  /**
   * Signs the certificate of an external authority. Requires the right to create authorities, and certificates with its common name.
   *
   * @throws VALIDATION_FAILED as `readAuthorityRequest`, and for more than the issuer allows; PERMISSION_DENIED, AUDIT_UNAVAILABLE; as
   *   `loadIssuer`
   */
  async sign(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { authorityId, request: text, metadata, ...terms } = parse(SignIntermediate, raw);
    await this.projects.authorizedOwner(ctx, { id: authorityId }, AUTHORITY, 'certificate-authorities:create');
    const { readAuthorityRequest, signRequest } = await import('./request-signing.js');
    const request = await readAuthorityRequest({ path: 'request', text });
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(
        tx,
        { id: authorityId },
        AUTHORITY,
        'certificate-authorities:create',
      );
      authorize(project, 'certificates:create', { commonName: request.commonName });
      const signed = await signRequest(tx, project, { authorityId, request, ...terms });
      const { organizationId, projectId } = project;
      const id = newId();
      const place = { id, organizationId, projectId, lineageId: id };
      await tx.em.insert(Certificate, { ...place, ...signed, source: 'issued', metadata });
      await this.onEvent(tx, { certificateId: id, organizationId, projectId, event: 'issuance' });
      await tx.auditTrail.recordChange(tx, {
        ...{ action: 'certificate-authority:sign-intermediate', projectId },
        facts: { authorityId: signed.authorityId, certificateId: id, version: 1 },
      });
      return loadRow(tx, findCertificates, { ids: [id] }, 'CERTIFICATE_NOT_FOUND');
    });
  }
}
