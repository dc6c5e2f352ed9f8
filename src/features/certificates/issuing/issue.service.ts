import type { z } from 'zod';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import type { ProjectAccess } from '../../projects/public.js';
import { type CertificateRow, findCertificates } from '../certificates/certificate.queries.js';
import type { OnCertificateEvent } from '../certificates/certificate-event.js';
import { holdProfiles } from '../profiles/profile.queries.js';
import type { ProfileRules } from '../profiles/profile.rules.js';
import type { ProfileService } from '../profiles/profile.service.js';
import { type Content, faultsAgainst } from '../profiles/profile-check.js';
import { refuse } from '../shared-checks.js';
import type { Csr } from '../x509/csr.js';
import { newKeyPair } from '../x509/keys.js';
import { contentOf, faultsOfNames, usualAlgorithm, type Wanted, wantedOf, within } from './content.js';
import { IssueCertificate, SAID_BY_CSR } from './issue.rules.js';
import type { RequestLog } from './request-log.js';

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
    private readonly onEvent: OnCertificateEvent,
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
    const keyAlgorithm = csr?.keyAlgorithm ?? input.keyAlgorithm ?? usualAlgorithm(profile.rules);
    const planned = plan(profile.rules, { input, csr, keyAlgorithm });
    const commonName = planned.content.subject.commonName ?? '';
    authorizeNames(project, planned.content);
    const { organizationId, projectId } = profile;
    const by = { profileId: profile.id, profileSlug: profile.slug };
    const asked = { organizationId, projectId, ...by, kind: 'issuance', commonName } as const;
    return this.log.keepingFailure(ctx, { ...asked, certificateId: null }, async () => {
      refuse(planned.faults);
      // Key generation is slow: outside of the transaction.
      const pair = csr === null ? await newKeyPair(keyAlgorithm as Parameters<typeof newKeyPair>[0]) : null;
      const { sign } = await import('./signing.js');
      return inTransaction(ctx, async (tx) => {
        const { project: now } = await this.profiles.load(tx, profileId, 'certificate-profiles:issue-cert');
        const held = await loadRow(tx, holdProfiles, { ids: [profile.id] }, PROFILE_NOT_FOUND);
        // The profile may have changed in the meantime.
        const { content, faults } = plan(held.rules, { input, csr, keyAlgorithm });
        authorizeNames(now, content);
        refuse(faults);
        const id = await sign(tx, {
          ...{ profile: held, content, life: input, metadata, renewBeforeDays, renews: null },
          saidIn: csr === null ? null : 'csr',
          publicKey: csr?.publicKey ?? (pair as NonNullable<typeof pair>).publicKey,
          privateKey: pair?.privateKey ?? null,
        });
        await this.log.keepIssued(tx, { ...asked, certificateId: null }, id);
        await this.onEvent(tx, { certificateId: id, organizationId, projectId, event: 'issuance' });
        await tx.auditTrail.recordChange(tx, {
          action: 'certificate:issue',
          projectId,
          facts: { certificateId: id, version: 1, profileId: held.id, hasPrivateKey: pair !== null },
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
  const beside = SAID_BY_CSR.filter((field) => input[field] != null);
  const message = 'must be absent if csr is set, which replaces it';
  if (beside.length > 0) throw validationFailed(beside.map((path) => ({ path, code: 'INVALID', message })));
  const { readCsr } = await import('../x509/csr.js');
  return readCsr({ path: 'csr', text });
}

interface Request {
  readonly input: Input;
  readonly csr: Csr | null;
  readonly keyAlgorithm: string;
}

function plan(rules: ProfileRules, { input, csr, keyAlgorithm }: Request): Planned {
  const { wanted, faults } = csr === null ? said(input) : wantedOf(csr);
  const { content, faults: unnamed } = contentOf(rules, wanted, keyAlgorithm);
  const all = [...faults, ...unnamed, ...faultsAgainst(rules, content, keyAlgorithm)];
  return { content, faults: csr === null ? all : within('csr', all) };
}

function said(input: Input): { readonly wanted: Wanted; readonly faults: readonly ErrorDetail[] } {
  const { subject, sans = null, keyUsages = null, extendedKeyUsages = null, isCa = null, pathLength = null } = input;
  const wanted = { subject: subject ?? {}, sans, keyUsages, extendedKeyUsages, isCa, pathLength };
  return { wanted, faults: faultsOfNames(sans ?? []) };
}
