import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { findAuthorities } from '../authorities/authority.queries.js';
import { USUAL_DAYS } from '../authorities/authority.rules.js';
import { loadIssuer, pathLengthBelow, refuseStraySubtrees, validityOf } from '../authorities/issuer.js';
import { type CertificateRow, findCertificates } from '../certificates/certificate.queries.js';
import { insertCertificate } from '../certificates/certificate.sql.js';
import type { OnCertificateEvent } from '../certificates/certificate-event.js';
import { readAuthorityRequest } from '../x509/authority-request.js';
import { factsOf } from '../x509/facts.js';
import { makeIntermediate } from '../x509/making.js';
import { toPem } from '../x509/pem.js';
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
    const { authorityId, request, validDays, maxPathLength, nameConstraints, metadata } = parse(SignIntermediate, raw);
    await this.projects.authorizedOwner(ctx, { id: authorityId }, AUTHORITY, 'certificate-authorities:create');
    const { subject, commonName, publicKey } = await readAuthorityRequest({ path: 'request', text: request });
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorizedOwner(
        tx,
        { id: authorityId },
        AUTHORITY,
        'certificate-authorities:create',
      );
      authorize(project, 'certificates:create', { commonName });
      const issuer = await loadIssuer(tx, project, authorityId);
      refuseStraySubtrees(issuer, nameConstraints);
      const made = await makeIntermediate(subject, publicKey, issuer, {
        ...validityOf({ now: issuer.now, end: issuer.notAfter }, validDays, USUAL_DAYS.intermediate),
        ...{ nameConstraints, maxPathLength: pathLengthBelow(issuer, maxPathLength ?? null, 'authorityId') },
      });
      const { organizationId, projectId } = project;
      const id = newId();
      await insertCertificate(tx, {
        ...{
          id,
          organizationId,
          projectId,
          authorityId: issuer.id,
          profileId: null,
          profileSlug: null,
          renewBeforeDays: null,
          lineageId: id,
          renewedFromId: null,
        },
        ...{ ...factsOf(made), source: 'issued', sans: [], keySealed: null, metadata: JSON.stringify(metadata) },
        ...{ certificate: toPem('CERTIFICATE', made.raw), chain: issuer.chainBelow },
      });
      await this.onEvent(tx, { certificateId: id, organizationId, projectId, event: 'issuance' });
      await tx.auditTrail.recordChange(tx, {
        ...{ action: 'certificate-authority:sign-intermediate', projectId },
        facts: { authorityId: issuer.id, certificateId: id, version: 1 },
      });
      return loadRow(tx, findCertificates, { ids: [id] }, 'CERTIFICATE_NOT_FOUND');
    });
  }
}
