import type { z } from 'zod';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { parse, refuseViolations, validationFailed } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { findAuthorities } from '../authorities/authority.queries.js';
import { Certificate } from '../certificates/certificate.entity.js';
import { type CertificateRow, findCertificates } from '../certificates/certificate.queries.js';
import { lockProfiles } from '../profiles/profile.queries.js';
import type { ProfileRules } from '../profiles/profile.rules.js';
import type { ProfileService } from '../profiles/profile.service.js';
import { type Content, profileViolations } from '../profiles/profile-check.js';

import type { Csr } from '../x509/csr.js';
import { newKeyPair } from '../x509/keys.js';
import {
  atField,
  contentOf,
  defaultAlgorithm,
  type RequestedContent,
  requestedContent,
  violationsOfNames,
} from './content.js';
import { IssueCertificate, REPLACED_BY_CSR, SignIntermediate } from './issue.rules.js';
import type { RequestLog } from './request.service.js';

const NOT_FOUND = 'CERTIFICATE_NOT_FOUND';
const PROFILE_NOT_FOUND = 'CERTIFICATE_PROFILE_NOT_FOUND';

type Input = z.output<typeof IssueCertificate>;

/** A request completed by a profile. */
interface Planned {
  readonly content: Content;
  readonly faults: readonly ErrorDetail[];
}

/**
 * Issues certificates for PKCS#10 requests, or with keys that the service generates and stores.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class IssueService {
  constructor(
    private readonly profiles: ProfileService,
    private readonly log: RequestLog,
  ) {}

  /**
   * Issues a certificate. The caller needs the right to issue by the profile, and to create certificates with each of its names: conditions
   * on common names apply to alternative names too.
   *
   * @throws CERTIFICATE_PROFILE_NOT_FOUND; VALIDATION_FAILED with everything that the profile does not allow, and as `readCsr`; as
   *   `loadIssuer` about the authority of the profile
   */
  async issue(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const input = parse(IssueCertificate, raw);
    const { profileId, csr: text, metadata, renewBeforeDays = null } = input;
    const { row: profile, project } = await this.profiles.load(ctx, profileId, 'certificate-profiles:issue-cert');
    authorize(project, 'certificates:create');
    const csr = text == null || text === '' ? null : await readStated(input, text);
    const keyAlgorithm = csr?.keyAlgorithm ?? input.keyAlgorithm ?? defaultAlgorithm(profile.rules);
    const planned = plan(profile.rules, { input, csr, keyAlgorithm });
    const commonName = planned.content.subject.commonName ?? '';
    authorizeNames(project, planned.content);
    const { organizationId, projectId } = profile;
    const by = { profileId: profile.id, profileSlug: profile.slug };
    const details = { organizationId, projectId, ...by, kind: 'issuance', commonName } as const;
    return this.log.storingFailure(ctx, { ...details, certificateId: null }, async () => {
      refuseViolations(planned.faults);
      // Key generation is slow: outside of the transaction.
      const pair = csr === null ? await newKeyPair(keyAlgorithm as Parameters<typeof newKeyPair>[0]) : null;
      const { signCertificate } = await import('./signing.js');
      return inTransaction(ctx, async (tx) => {
        const { project: now } = await this.profiles.load(tx, profileId, 'certificate-profiles:issue-cert');
        const locked = await loadRow(tx, lockProfiles, { ids: [profile.id] }, PROFILE_NOT_FOUND);
        // The profile may have changed in the meantime.
        const { content, faults } = plan(locked.rules, { input, csr, keyAlgorithm });
        authorizeNames(now, content);
        refuseViolations(faults);
        const id = await signCertificate(tx, {
          ...{ profile: locked, content, life: input, metadata, renewBeforeDays, renews: null },
          contentField: csr === null ? null : 'csr',
          publicKey: csr?.publicKey ?? (pair as NonNullable<typeof pair>).publicKey,
          privateKey: pair?.privateKey ?? null,
        });
        await this.log.storeIssued(tx, { ...details, certificateId: null }, id);
        await tx.events.certificateChanged(tx, { certificateId: id, organizationId, projectId, event: 'issuance' });
        await tx.auditTrail.recordChange(tx, {
          action: 'certificate:issue',
          projectId,
          facts: { certificateId: id, version: 1, profileId: locked.id, hasPrivateKey: pair !== null },
        });
        return loadRow(tx, findCertificates, { ids: [id] }, NOT_FOUND);
      });
    });
  }
}

/** @throws PERMISSION_DENIED for a name that the caller cannot create certificates with */
function authorizeNames(project: ProjectAccess, { subject, sans }: Content): void {
  const names = sans.map(({ kind, value }) => (kind === 'dns' ? value.toLowerCase() : value));
  for (const commonName of new Set([subject.commonName ?? '', ...names]))
    authorize(project, 'certificates:create', { commonName });
}

/** @throws VALIDATION_FAILED for fields that the PKCS#10 request replaces; as `readCsr` */
async function readStated(input: Input, text: string): Promise<Csr> {
  const beside = REPLACED_BY_CSR.filter((field) => input[field] != null);
  const message = 'must be absent if csr is set, which replaces it';
  if (beside.length > 0) throw validationFailed(beside.map((path) => invalid(path, message)));
  const { readCsr } = await import('../x509/csr.js');
  return readCsr({ path: 'csr', text });
}

interface Request {
  readonly input: Input;
  readonly csr: Csr | null;
  readonly keyAlgorithm: string;
}

function plan(rules: ProfileRules, { input, csr, keyAlgorithm }: Request): Planned {
  const { wanted, faults } = csr === null ? statedIn(input) : requestedContent(csr);
  const { content, faults: unnamed } = contentOf(rules, wanted, keyAlgorithm);
  const all = [...faults, ...unnamed, ...profileViolations(rules, content, keyAlgorithm)];
  return { content, faults: csr === null ? all : atField('csr', all) };
}

function statedIn(input: Input): { readonly wanted: RequestedContent; readonly faults: readonly ErrorDetail[] } {
  const { subject, sans = null, keyUsages = null, extendedKeyUsages = null, isCa = null, pathLength = null } = input;
  const wanted = { subject: subject ?? {}, sans, keyUsages, extendedKeyUsages, isCa, pathLength };
  return { wanted, faults: violationsOfNames(sans ?? []) };
}

const AUTHORITY = { find: findAuthorities, notFound: 'CERTIFICATE_AUTHORITY_NOT_FOUND' } as const;

/** Certificates of external authorities. They are stored in the inventory and revoked there. */
export class IntermediateService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Signs the certificate of an external authority. Requires the right to create authorities, and certificates with its common name.
   *
   * @throws VALIDATION_FAILED as `readAuthorityRequest`, and for more than the issuer allows; PERMISSION_DENIED, AUDIT_UNAVAILABLE; as
   *   `loadIssuer`
   */
  async sign(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { authorityId, request: text, metadata, ...terms } = parse(SignIntermediate, raw);
    await this.projects.authorizedOwner(ctx, { id: authorityId }, AUTHORITY, 'certificate-authorities:create');
    const { readAuthorityRequest } = await import('../x509/csr.js');
    const request = await readAuthorityRequest({ path: 'request', text });
    const { signRequest } = await import('../authorities/authority-making.js');
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
      await tx.events.certificateChanged(tx, { certificateId: id, organizationId, projectId, event: 'issuance' });
      await tx.auditTrail.recordChange(tx, {
        ...{ action: 'certificate-authority:sign-intermediate', projectId },
        facts: { authorityId: signed.authorityId, certificateId: id, version: 1 },
      });
      return loadRow(tx, findCertificates, { ids: [id] }, 'CERTIFICATE_NOT_FOUND');
    });
  }
}
