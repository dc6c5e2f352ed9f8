import { X509Certificate } from 'node:crypto';
import { raw as sql } from '@mikro-orm/core';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfOwned, type Found } from '../../../kernel/database/batched.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError, invalid } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { type CountedConnectionOf, counted, keyPageBounds, Page } from '../../../kernel/paging.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import type { ProjectAccess, ProjectReader, ProjectRelations } from '../../projects/public.js';
import { sealKey } from '../key-sealing.js';
import { CertificateRevocation } from '../revocation/revocation.entity.js';
import { refuseOtherType } from '../shared-checks.js';
import { newKeyPair } from '../x509/keys.js';
import { CertificateAuthority } from './authority.entity.js';
import {
  type AuthorityRow,
  countAuthorities,
  cursorKeyOf,
  findAuthorities,
  listAuthorities,
  revokeFormerCertificates,
} from './authority.queries.js';
import {
  ActivateAuthority,
  CreateAuthority,
  ListAuthorities,
  type NewAuthority,
  OneAuthority,
  RenewAuthority,
  RevokeAuthority,
  SucceedAuthority,
  UpdateAuthority,
} from './authority.rules.js';

const NOT_FOUND = 'CERTIFICATE_AUTHORITY_NOT_FOUND';
const AUTHORITY = { find: findAuthorities, notFound: NOT_FOUND } as const;
const IN_USE = {
  certificate_authority_parent_fk: 'CERTIFICATE_AUTHORITY_IN_USE',
  certificate_authority_fk: 'CERTIFICATE_AUTHORITY_IN_USE',
  certificate_profile_authority_fk: 'CERTIFICATE_AUTHORITY_IN_USE',
} as const;
const NAME_TAKEN = {
  certificate_authority_name_unique: 'CERTIFICATE_AUTHORITY_NAME_TAKEN',
  certificate_authority_predecessor_unique: 'CERTIFICATE_AUTHORITY_HAS_SUCCESSOR',
  certificate_authority_project_id_fkey: 'PROJECT_NOT_FOUND',
} as const;

const OTHER_SUBJECT = invalid('certificate', 'must have the same subject as the authority');

/**
 * Certificate authorities of projects. Their private keys never leave the service.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class AuthorityService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Creates a root, an intermediate below another authority of the project, or one that waits for a certificate from an external authority.
   *
   * @throws PROJECT_NOT_FOUND, CERTIFICATE_AUTHORITY_NAME_TAKEN; VALIDATION_FAILED (WRONG_PROJECT_TYPE) if the project is of another type,
   *   and for a longer validity or path length than the parent allows; as `loadIssuer` about the parent
   */
  create(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const input = parse(CreateAuthority, raw);
    if (input.kind === 'root' && input.parentId != null)
      throw validationFailed([invalid('parentId', 'must be absent for a root')]);
    return this.#make(ctx, input, null);
  }

  /**
   * Creates an authority with a new key that succeeds another one, with its kind and parent.
   *
   * @throws CERTIFICATE_AUTHORITY_NOT_FOUND; CERTIFICATE_AUTHORITY_HAS_SUCCESSOR if it has one already; as `create`
   */
  async createSuccessor(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { predecessorId: id, disablePredecessor: isDisabling, ...input } = parse(SucceedAuthority, raw);
    const { projectId } = await this.projects.authorizedOwner(ctx, { id }, AUTHORITY, 'certificate-authorities:edit');
    const { kind, parentId } = await loadRow(ctx, findAuthorities, { ids: [id] }, NOT_FOUND);
    return this.#make(ctx, { ...input, projectId, kind, parentId }, { id, isDisabling });
  }

  async #make(ctx: Context, input: NewAuthority, predecessor: Predecessor | null): Promise<AuthorityRow> {
    // Key generation is slow: only after authorization, and outside of the transaction.
    refuseOtherType(await this.projects.authorized(ctx, input.projectId, 'certificate-authorities:create'));
    const pair = await newKeyPair(input.keyAlgorithm);
    const { issueAuthority } = await import('./authority-making.js');
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorized(tx, input.projectId, 'certificate-authorities:create');
      const { organizationId, projectId } = project;
      const id = newId();
      const keySealed = await sealKey(tx, project, { table: 'certificate_authority', id }, pair.privateKey);
      if (predecessor !== null) await lockPredecessor(tx, projectId, predecessor);
      const issued = await issueAuthority(tx, project, input, pair);
      const common = { id, organizationId, projectId, name: input.name, kind: input.kind, keySealed, ...issued };
      await withConstraintCodes(
        () =>
          tx.em.insert(CertificateAuthority, {
            ...common,
            commonName: input.subject.commonName,
            keyAlgorithm: input.keyAlgorithm,
            predecessorId: predecessor?.id ?? null,
          }),
        NAME_TAKEN,
      );
      const made = await loadRow(tx, findAuthorities, { ids: [id] }, NOT_FOUND);
      await record(tx, 'certificate-authority:create', made);
      return made;
    });
  }

  /**
   * Imports the certificate that an external authority issued for the request of an authority: the first one or a renewal.
   *
   * @throws CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_AUTHORITY_NOT_PENDING; VALIDATION_FAILED as `readIssuedCertificate`, and for a renewal with
   *   another subject
   */
  async activate(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { id, certificate, chain } = parse(ActivateAuthority, raw);
    const { readIssuedCertificate, storeFormerCertificate } = await import('./authority-making.js');
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(tx, { id }, AUTHORITY, 'certificate-authorities:edit');
      const authority = await lockRow(tx, CertificateAuthority, { id, projectId }, NOT_FOUND);
      const { status, request, certificate: replaced } = authority;
      if (request == null) throw new AppError('CERTIFICATE_AUTHORITY_NOT_PENDING');
      const issued = readIssuedCertificate({ certificate, chain: chain ?? '' }, request, await databaseNow(tx));
      if (replaced != null) {
        // Issued certificates name it as their issuer.
        if (issued.subject !== authority.subject) throw validationFailed([OTHER_SUBJECT]);
        storeFormerCertificate(tx, authority);
      }
      tx.em.assign(authority, {
        ...issued,
        status: status === 'pending' ? 'active' : status,
        request: null,
        version: authority.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx);
      await record(tx, 'certificate-authority:activate', authority);
      return loadRow(tx, findAuthorities, { ids: [authority.id] }, NOT_FOUND);
    });
  }

  /**
   * Issues a new certificate with the same key and subject, so that issued certificates stay valid below it. If the issuer is external, the
   * authority gets a new certificate request, and keeps its certificate until the response is imported.
   *
   * @throws CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_AUTHORITY_PENDING, CERTIFICATE_AUTHORITY_REVOKED, CONCURRENT_CHANGE,
   *   SEALED_VALUE_INVALID; as `loadIssuer` about the parent
   */
  async renew(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { id, expectedVersion, ...life } = parse(RenewAuthority, raw);
    const { renewAuthority } = await import('./authority-making.js');
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(tx, { id }, AUTHORITY, 'certificate-authorities:edit');
      const authority = await lockRow(tx, CertificateAuthority, { id, projectId }, NOT_FOUND);
      refuseOtherVersion(authority.version, expectedVersion);
      if (authority.certificate == null) throw new AppError('CERTIFICATE_AUTHORITY_PENDING');
      if (authority.revokedAt != null) throw new AppError('CERTIFICATE_AUTHORITY_REVOKED');
      tx.em.assign(authority, {
        ...(await renewAuthority(tx, authority, new X509Certificate(authority.certificate), life)),
        version: authority.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx);
      await record(tx, 'certificate-authority:renew', authority);
      return loadRow(tx, findAuthorities, { ids: [authority.id] }, NOT_FOUND);
    });
  }

  /**
   * Renames, disables or enables an authority. Issued certificates do not change.
   *
   * @throws CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_AUTHORITY_NAME_TAKEN; CERTIFICATE_AUTHORITY_PENDING if it has no certificate,
   *   CERTIFICATE_AUTHORITY_REVOKED if it is revoked; CONCURRENT_CHANGE if `expectedVersion` differs
   */
  update(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { id, expectedVersion, name, status } = parse(UpdateAuthority, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(tx, { id }, AUTHORITY, 'certificate-authorities:edit');
      const authority = await lockRow(tx, CertificateAuthority, { id, projectId }, NOT_FOUND);
      refuseOtherVersion(authority.version, expectedVersion);
      if (status !== undefined && authority.status === 'pending') throw new AppError('CERTIFICATE_AUTHORITY_PENDING');
      if (status !== undefined && authority.revokedAt != null) throw new AppError('CERTIFICATE_AUTHORITY_REVOKED');
      const changes = { name: name ?? authority.name, status: status ?? authority.status };
      const changed = (['name', 'status'] as const).filter((field) => changes[field] !== authority[field]);
      if (changed.length > 0) {
        tx.em.assign(authority, { ...changes, version: authority.version + 1, updatedAt: sql('now()') });
        await flush(tx, NAME_TAKEN);
      }
      await record(tx, 'certificate-authority:update', authority, { changed });
      return loadRow(tx, findAuthorities, { ids: [authority.id] }, NOT_FOUND);
    });
  }

  /**
   * Revokes the certificate of an authority in the revocation list of its parent, and disables the authority permanently.
   *
   * @throws CERTIFICATE_AUTHORITY_NOT_FOUND, CERTIFICATE_AUTHORITY_REVOKED; CERTIFICATE_AUTHORITY_NOT_ISSUED_HERE for a root and for an
   *   externally issued certificate
   */
  revoke(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { id, reason } = parse(RevokeAuthority, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(tx, { id }, AUTHORITY, 'certificate-authorities:edit');
      const authority = await lockRow(tx, CertificateAuthority, { id, projectId }, NOT_FOUND);
      const { organizationId, parentId, serialNumber, notAfter } = authority;
      if (authority.revokedAt != null) throw new AppError('CERTIFICATE_AUTHORITY_REVOKED');
      if (parentId == null || serialNumber == null || notAfter == null)
        throw new AppError('CERTIFICATE_AUTHORITY_NOT_ISSUED_HERE');
      const revokedNow = { revokedAt: sql('now()'), reason, notAfter };
      await tx.em
        .createQueryBuilder(CertificateRevocation)
        .insert({ authorityId: parentId, serialNumber, organizationId, projectId, ...revokedNow })
        .onConflict()
        .ignore()
        .execute();
      // Former certificates have the same key.
      await revokeFormerCertificates(tx, { authorityId: authority.id, reason });
      tx.em.assign(authority, {
        status: 'disabled',
        revokedAt: sql('now()'),
        revocationReason: reason,
        version: authority.version + 1,
        updatedAt: sql('now()'),
      });
      await flush(tx);
      await record(tx, 'certificate-authority:revoke', authority, { reason });
      return loadRow(tx, findAuthorities, { ids: [authority.id] }, NOT_FOUND);
    });
  }

  /**
   * Deletes an authority and its key.
   *
   * @returns the deleted authority
   * @throws CERTIFICATE_AUTHORITY_NOT_FOUND; CERTIFICATE_AUTHORITY_IN_USE while it has subordinate authorities or certificates
   */
  delete(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { id } = parse(OneAuthority, raw);
    return inTransaction(ctx, async (tx) => {
      const { projectId } = await this.projects.authorizedOwner(
        tx,
        { id },
        AUTHORITY,
        'certificate-authorities:delete',
      );
      const authority = await lockRow(tx, CertificateAuthority, { id, projectId }, NOT_FOUND);
      const before = await loadRow(tx, findAuthorities, { ids: [authority.id] }, NOT_FOUND);
      tx.em.remove(authority);
      await flush(tx, IN_USE);
      await record(tx, 'certificate-authority:delete', before);
      return before;
    });
  }

  /** Returns one authority. @throws CERTIFICATE_AUTHORITY_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<AuthorityRow> {
    const { row } = await this.projects.authorizedItem(
      ctx,
      parse(OneAuthority, raw),
      AUTHORITY,
      'certificate-authorities:read',
    );
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Lists authorities of a project, by name. @throws PROJECT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<AuthorityRow>> {
    const { projectId: wanted, ...request } = parse(ListAuthorities, raw);
    const bounds = keyPageBounds(request);
    const { projectId } = await this.projects.authorized(ctx, wanted, 'certificate-authorities:read');
    const page = new Page(await listAuthorities(ctx, { projectIds: [projectId], ...bounds }), request, cursorKeyOf);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'certificate-authority:list',
      projectId,
      facts: { count: page.nodes.length },
    });
    return counted(page, async () => (await batched(ctx, countsOfAuthorities, projectId)) ?? 0);
  }

  /** Lists authorities of a project nested in a response. All projects share one statement. @throws PERMISSION_DENIED */
  async listInProject(ctx: Context, project: ProjectAccess): Promise<readonly AuthorityRow[]> {
    authorize(project, 'certificate-authorities:read');
    return (await batched(ctx, authoritiesByProject, project.projectId)) ?? [];
  }
}

/** Predecessor of a new authority. */
interface Predecessor {
  readonly id: string;
  readonly isDisabling: boolean;
}

/** Locks the predecessor of a new authority, and disables it if requested. */
async function lockPredecessor(tx: Transaction, projectId: string, { id, isDisabling }: Predecessor): Promise<void> {
  const authority = await lockRow(tx, CertificateAuthority, { id, projectId }, NOT_FOUND);
  if (!isDisabling || authority.status === 'disabled') return;
  if (authority.status === 'pending') throw new AppError('CERTIFICATE_AUTHORITY_PENDING');
  tx.em.assign(authority, { status: 'disabled', version: authority.version + 1, updatedAt: sql('now()') });
  await flush(tx);
  await record(tx, 'certificate-authority:update', authority, { changed: ['status'] });
}

/** Records a change of an authority in the audit trail. */
const record = (
  tx: Transaction,
  action: string,
  { id, projectId, version }: { readonly id: string; readonly projectId: string; readonly version: number },
  facts: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, projectId, facts: { authorityId: id, version, ...facts } });

/** The audit record of reading an authority. */
export const auditOfRead = ({ id, projectId }: { readonly id: string; readonly projectId: string }) => ({
  action: 'certificate-authority:get',
  projectId,
  facts: { authorityId: id },
});

const authoritiesByProject = batchOfOwned(
  (ctx, projectIds) => listAuthorities(ctx, { projectIds, after: null, limit: null }),
  ({ projectId }) => projectId,
);

const countsOfAuthorities: BatchLoad<number> = async (ctx, projectIds) =>
  new Map((await countAuthorities(ctx, { projectIds })).map(({ projectId, count }) => [projectId, count]));

/** Authorities by ID that the caller can read; an error in place of one that it cannot. */
export const readableAuthorities = async (
  ctx: Context,
  relations: ProjectRelations,
  ids: readonly string[],
): Promise<Found<AuthorityRow>> =>
  relations.readable(ctx, await findAuthorities(ctx, { ids }), (row, access) => {
    authorize(access, 'certificate-authorities:read');
    return row;
  });
