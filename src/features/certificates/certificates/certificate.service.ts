import { X509Certificate } from 'node:crypto';
import { raw as sql } from '@mikro-orm/core';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { type Found, withoutNulls } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { type CountedConnectionOf, counted, Page, timeCursorKey } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import type { ProjectAccess, ProjectReader, ProjectRelations } from '../../projects/public.js';
import { findAuthorities, findOwnerOfCertificate, listAuthorities } from '../authorities/authority.queries.js';
import { openKey, sealKey } from '../key-sealing.js';
import { refuseOtherType } from '../shared-checks.js';
import type { Bundle } from '../x509/bundle.js';
import { toPem } from '../x509/pem.js';
import { Certificate } from './certificate.entity.js';
import { type CertificateRow, findCertificates } from './certificate.queries.js';
import {
  CertificatePage,
  ImportCertificate,
  ListCertificates,
  type MetadataEntry,
  OneCertificate,
  RevokeCertificate,
  UpdateCertificate,
} from './certificate.rules.js';
import { CertificateLists, type CertificatesRequest } from './certificate-list.js';

const NOT_FOUND = 'CERTIFICATE_NOT_FOUND';
const AUTHORITY_NOT_FOUND = 'CERTIFICATE_AUTHORITY_NOT_FOUND';
const CERTIFICATE = { find: findCertificates, notFound: NOT_FOUND } as const;
const CONSTRAINTS = {
  certificate_fingerprint_unique: 'CERTIFICATE_EXISTS',
  certificate_serial_unique: 'CERTIFICATE_EXISTS',
  certificate_authority_fk: 'CERTIFICATE_AUTHORITY_NOT_FOUND',
  certificate_project_id_fkey: 'PROJECT_NOT_FOUND',
  certificate_renewed_from_unique: 'CERTIFICATE_RENEWED',
} as const;

/** A certificate with its chain, key and metadata. */
interface Imported {
  readonly projectId: string;
  readonly bundle: Bundle;
  /** The certificate that it replaces. */
  readonly replacesId?: string | null | undefined;
  readonly metadata: readonly MetadataEntry[];
}

type CertificateAction = `certificates:${'read' | 'create' | 'edit' | 'delete' | 'read-private-key'}`;

/**
 * The inventory of certificates of projects. Permissions can be limited to common names: certificates that a caller cannot read do not
 * exist for it.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class CertificateService {
  readonly #lists: CertificateLists;

  constructor(private readonly projects: ProjectReader) {
    this.#lists = new CertificateLists(projects);
  }

  /**
   * Imports a certificate into the inventory, with its chain and its key if given. It is linked to the authority of the project that issued
   * it, if any. One that replaces another joins its lineage, as a renewal.
   *
   * @throws PROJECT_NOT_FOUND; CERTIFICATE_EXISTS if the project has it already; CERTIFICATE_NOT_FOUND, CERTIFICATE_RENEWED of the
   *   certificate that it replaces; VALIDATION_FAILED (WRONG_PROJECT_TYPE) if the project is
   *   of another type, and as `readBundle`
   */
  async import(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { projectId: wanted, certificate, chain, privateKey, replacesId, metadata } = parse(ImportCertificate, raw);
    const texts = Object.entries({ certificate, chain, privateKey }).flatMap(([path, text]) =>
      text == null || text === '' ? [] : [{ path, text }],
    );
    await this.authorizeImport(ctx, wanted);
    const { readBundle } = await import('../x509/bundle.js');
    const bundle = readBundle(texts.length === 0 ? [{ path: 'certificate', text: '' }] : texts);
    return this.importBundle(ctx, { projectId: wanted, bundle, replacesId, metadata });
  }

  /** Runs before an import is parsed. @throws PROJECT_NOT_FOUND; VALIDATION_FAILED (WRONG_PROJECT_TYPE) */
  async authorizeImport(ctx: Context, projectId: string): Promise<void> {
    refuseOtherType(await this.projects.authorized(ctx, projectId, 'certificates:create'));
  }

  /** Imports what was parsed already. @throws PROJECT_NOT_FOUND, CERTIFICATE_EXISTS, CERTIFICATE_NOT_FOUND, CERTIFICATE_RENEWED */
  async importBundle(
    ctx: Context,
    { projectId: wanted, bundle, replacesId = null, metadata }: Imported,
  ): Promise<CertificateRow> {
    const { inventoryColumns } = await import('../x509/facts.js');
    const kept = inventoryColumns(bundle.leaf);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorized(tx, wanted, 'certificates:create');
      authorize(project, 'certificates:create', { commonName: kept.commonName });
      const { organizationId, projectId } = project;
      const id = newId();
      const keySealed =
        bundle.privateKey === null ? null : await sealKey(tx, project, { table: 'certificate', id }, bundle.privateKey);
      const authorityId = await findIssuerOf(tx, projectId, bundle.leaf);
      const replaced = replacesId === null ? null : await this.#replace(tx, projectId, replacesId);
      const lineage = { lineageId: replaced?.lineageId ?? id, renewedFromId: replaced?.id ?? null };
      const row = { id, organizationId, projectId, authorityId, ...lineage };
      await withConstraintCodes(
        () =>
          tx.em.insert(Certificate, {
            ...row,
            ...kept,
            source: 'imported',
            chain: bundle.chain.map((issuer) => toPem('CERTIFICATE', issuer.raw)).join(''),
            keySealed,
            metadata,
          }),
        CONSTRAINTS,
      );
      await tx.events.certificateChanged(tx, { certificateId: id, organizationId, projectId, event: 'import' });
      await record(
        tx,
        'certificate:import',
        { id, projectId, version: 1 },
        {
          hasPrivateKey: keySealed !== null,
          ...(replaced === null ? {} : { replacesId: replaced.id }),
        },
      );
      return loadRow(tx, findCertificates, { ids: [id] }, NOT_FOUND);
    });
  }

  /**
   * The certificate that another one replaces. Its version changes, as by a renewal, so that it is replaced once.
   *
   * @throws CERTIFICATE_NOT_FOUND, CERTIFICATE_RENEWED
   */
  async #replace(tx: Transaction, projectId: string, id: string): Promise<Certificate> {
    const replaced = await this.#lock(tx, id, 'certificates:edit');
    if (replaced.projectId !== projectId) throw new AppError(NOT_FOUND);
    if ((await tx.em.count(Certificate, { renewedFromId: replaced.id })) > 0) throw new AppError('CERTIFICATE_RENEWED');
    tx.em.assign(replaced, { version: replaced.version + 1, updatedAt: sql('now()') });
    await flush(tx);
    return replaced;
  }

  /** Updates metadata or renewal of a certificate. @throws CERTIFICATE_NOT_FOUND; CONCURRENT_CHANGE if `expectedVersion` differs */
  update(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { id, expectedVersion, metadata, renewBeforeDays } = parse(UpdateCertificate, raw);
    return inTransaction(ctx, async (tx) => {
      const certificate = await this.#lock(tx, id, 'certificates:edit');
      refuseOtherVersion(certificate.version, expectedVersion);
      const before = certificate.metadata.map(inOrder);
      const days = certificate.renewBeforeDays ?? null;
      const changes = {
        ...(metadata === undefined || JSON.stringify(metadata) === JSON.stringify(before) ? {} : { metadata }),
        ...(renewBeforeDays === undefined || renewBeforeDays === days ? {} : { renewBeforeDays }),
      };
      const changed = Object.keys(changes);
      if (changed.length > 0) {
        tx.em.assign(certificate, { ...changes, version: certificate.version + 1, updatedAt: sql('now()') });
        await flush(tx);
      }
      await record(tx, 'certificate:update', certificate, { changed });
      return loadRow(tx, findCertificates, { ids: [certificate.id] }, NOT_FOUND);
    });
  }

  /**
   * Permanently revokes a certificate. For the certificate of an authority of the project, the right to edit authorities is required too.
   *
   * @throws CERTIFICATE_NOT_FOUND; CERTIFICATE_REVOKED if it is revoked already
   */
  revoke(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { id, reason } = parse(RevokeCertificate, raw);
    return inTransaction(ctx, async (tx) => {
      const { row, project } = await this.load(tx, id, 'certificates:edit');
      // This would invalidate the authority and everything below it.
      if ((await findOwnerOfCertificate(tx, row)).length > 0) authorize(project, 'certificate-authorities:edit');
      const certificate = await lockRow(tx, Certificate, { id: row.id, projectId: row.projectId }, NOT_FOUND);
      if (certificate.status === 'revoked') throw new AppError('CERTIFICATE_REVOKED');
      tx.em.assign(certificate, {
        status: 'revoked',
        revokedAt: sql('now()'),
        revocationReason: reason,
        version: certificate.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx);
      const { organizationId, projectId } = certificate;
      await tx.events.certificateChanged(tx, {
        certificateId: certificate.id,
        organizationId,
        projectId,
        event: 'revocation',
      });
      await record(tx, 'certificate:revoke', certificate, { reason });
      return loadRow(tx, findCertificates, { ids: [certificate.id] }, NOT_FOUND);
    });
  }

  /** Deletes a certificate and its key. @returns the deleted certificate @throws CERTIFICATE_NOT_FOUND */
  delete(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { id } = parse(OneCertificate, raw);
    return inTransaction(ctx, async (tx) => {
      const certificate = await this.#lock(tx, id, 'certificates:delete');
      const before = await loadRow(tx, findCertificates, { ids: [certificate.id] }, NOT_FOUND);
      tx.em.remove(certificate);
      await flush(tx);
      await record(tx, 'certificate:delete', before);
      return before;
    });
  }

  /** Returns one certificate. @throws CERTIFICATE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { row } = await this.load(ctx, parse(OneCertificate, raw).id, 'certificates:read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /**
   * Returns the private key of a certificate, as PEM. The audit trail records the disclosure.
   *
   * @throws CERTIFICATE_NOT_FOUND, CERTIFICATE_KEY_NOT_FOUND, SEALED_VALUE_INVALID
   */
  async getPrivateKey(
    ctx: Context,
    raw: unknown,
  ): Promise<{ readonly certificate: CertificateRow; readonly privateKey: SealedText }> {
    return this.discloseKey(ctx, parse(OneCertificate, raw).id, 'certificate:read-private-key');
  }

  /** The private key of a certificate, with the disclosure recorded under this action. @throws as `getPrivateKey` */
  async discloseKey(
    ctx: Context,
    id: string,
    action: `certificate:${string}`,
  ): Promise<{ readonly certificate: CertificateRow; readonly privateKey: SealedText }> {
    const { row, project } = await this.load(ctx, id, 'certificates:read-private-key');
    const stored = await emOf(ctx).findOne(Certificate, { id: row.id }, { fields: ['keySealed'] });
    if (stored === null) throw new AppError(NOT_FOUND);
    if (stored.keySealed == null) throw new AppError('CERTIFICATE_KEY_NOT_FOUND');
    const privateKey = await openKey(ctx, project, { table: 'certificate', id: row.id }, stored.keySealed);
    await ctx.auditTrail.recordRead(ctx, {
      action,
      projectId: row.projectId,
      facts: { certificateId: row.id },
      disclosed: disclosureOf([row.id]),
    });
    return { certificate: row, privateKey };
  }

  /**
   * Lists certificates of a project, soonest expiration first.
   *
   * @throws PROJECT_NOT_FOUND; CERTIFICATE_AUTHORITY_NOT_FOUND if the ID is of no authority of the project
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<CertificateRow>> {
    const { projectId, ...request } = parse(ListCertificates, raw);
    const project = await this.projects.authorized(ctx, projectId, 'certificates:read');
    const { authorityId } = request;
    if (authorityId != null) {
      const { projectId: owner } = await loadRow(ctx, findAuthorities, { ids: [authorityId] }, AUTHORITY_NOT_FOUND);
      if (owner !== project.projectId) throw new AppError(AUTHORITY_NOT_FOUND);
    }
    return this.#page(ctx, project, request);
  }

  /** Like `list`, for a project nested in a response. All projects share their statements. @throws PERMISSION_DENIED */
  async pageInProject(
    ctx: Context,
    project: ProjectAccess,
    raw: unknown,
  ): Promise<CountedConnectionOf<CertificateRow>> {
    const request = parse(CertificatePage, raw);
    authorize(project, 'certificates:read');
    return this.#page(ctx, project, request);
  }

  async #page(
    ctx: Context,
    { projectId }: ProjectAccess,
    request: CertificatesRequest,
  ): Promise<CountedConnectionOf<CertificateRow>> {
    const rows = await this.#lists.page(ctx, projectId, request);
    const page = new Page(rows, request, ({ notAfter, id }) => timeCursorKey(notAfter, id));
    const facts = { count: page.nodes.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'certificate:list', projectId, facts });
    return counted(page, () => this.#lists.count(ctx, projectId, request));
  }

  /** Loads a certificate for a caller that can do this to it. @throws CERTIFICATE_NOT_FOUND, also if it is hidden from the caller */
  async load(
    ctx: Context,
    id: string,
    action: CertificateAction,
  ): Promise<{ readonly row: CertificateRow; readonly project: ProjectAccess }> {
    const { row, project } = await this.projects.authorizedItem(ctx, { id }, CERTIFICATE, action);
    const { commonName } = row;
    if (![action, 'certificates:read' as const].some((known) => can(project.ability, known, { commonName })))
      throw new AppError(NOT_FOUND);
    authorize(project, action, { commonName });
    return { row, project };
  }

  async #lock(tx: Transaction, id: string, action: CertificateAction): Promise<Certificate> {
    const { row } = await this.load(tx, id, action);
    return lockRow(tx, Certificate, { id: row.id, projectId: row.projectId }, NOT_FOUND);
  }
}

/** Postgres returns the keys of `jsonb` in its own order. */
const inOrder = ({ key, value }: { readonly key: string; readonly value: string }) => ({ key, value });

/** The audit record of reading a certificate. */
export const auditOfRead = ({ id, projectId }: { readonly id: string; readonly projectId: string }) => ({
  action: 'certificate:get',
  projectId,
  facts: { certificateId: id },
});

const record = (
  tx: Transaction,
  action: string,
  { id, projectId, version }: { readonly id: string; readonly projectId: string; readonly version: number },
  facts: Readonly<Record<string, string | boolean | readonly string[]>> = {},
): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { certificateId: id, version, ...facts } });

/** ID of the authority of a project that issued a certificate; null if none did. */
async function findIssuerOf(ctx: Context, projectId: string, certificate: X509Certificate): Promise<string | null> {
  const { isIssuerOf } = await import('../x509/bundle.js');
  const authorities = await listAuthorities(ctx, { projectIds: [projectId], after: null, limit: null });
  const issuer = authorities.find(
    (authority) =>
      authority.certificate !== null && isIssuerOf(new X509Certificate(authority.certificate), certificate),
  );
  return issuer?.id ?? null;
}

/** A certificate event. `import`: the certificate was issued elsewhere. */
export interface CertificateEvent {
  readonly certificateId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly event: 'import' | 'issuance' | 'renewal' | 'revocation';
}

/**
 * Certificates by ID. Whether the caller can read one depends on its common name: others are left out, or, if it can read none, replaced
 * by an error.
 */
export async function readableCertificates(
  ctx: Context,
  relations: ProjectRelations,
  ids: readonly string[],
): Promise<Found<CertificateRow>> {
  const found = await relations.readable(ctx, await findCertificates(ctx, { ids }), (row, access) => {
    authorize(access, 'certificates:read');
    return can(access.ability, 'certificates:read', { commonName: row.commonName }) ? row : null;
  });
  return withoutNulls(found);
}
