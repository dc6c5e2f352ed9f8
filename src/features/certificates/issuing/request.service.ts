import { raw as sql } from '@mikro-orm/core';
import { authorize, can, canAlways } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { countIn } from '../../../kernel/database/tables.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { type CountedConnectionOf, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import type { CertificateService } from '../certificates/certificate.service.js';
import { ListRequests, OneRequest } from './issue.rules.js';
import { CertificateRequest, type RequestError, type RequestKind } from './request.entity.js';
import { countRequests, findRequests, listRequestedNames, listRequests, type RequestRow } from './request.queries.js';

const NOT_FOUND = 'CERTIFICATE_REQUEST_NOT_FOUND';
const REQUEST = { find: findRequests, notFound: NOT_FOUND } as const;

/**
 * Certificate requests and their results. Callers that can read certificates with a common name can read requests for it.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class RequestService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly certificates: CertificateService,
  ) {}

  /** Returns one request. @throws CERTIFICATE_REQUEST_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<RequestRow> {
    const { row, project } = await this.projects.authorizedItem(
      ctx,
      parse(OneRequest, raw),
      REQUEST,
      'certificates:read',
    );
    if (!can(project.ability, 'certificates:read', { commonName: row.commonName })) throw new AppError(NOT_FOUND);
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Lists requests of a project, newest first. @throws PROJECT_NOT_FOUND; CERTIFICATE_NOT_FOUND if the ID is of no certificate of it */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<RequestRow>> {
    const {
      projectId: requested,
      state = null,
      kind = null,
      certificateId = null,
      ...request
    } = parse(ListRequests, raw);
    const bounds = timePageBounds(request);
    const project = await this.projects.load(ctx, requested);
    authorize(project, 'certificates:read');
    const { projectId, ability } = project;
    if (certificateId !== null) {
      const { row } = await this.certificates.load(ctx, certificateId, 'certificates:read');
      if (row.projectId !== projectId) throw new AppError('CERTIFICATE_NOT_FOUND');
    }
    const isOpen = canAlways(ability, 'certificates:read');
    const known = isOpen ? [] : await listRequestedNames(ctx, { projectId });
    const names = known.map(({ commonName }) => commonName);
    const wanted = {
      ...{ projectId, isOpen, state, kind, certificateId },
      names: names.filter((commonName) => can(ability, 'certificates:read', { commonName })),
    };
    const rows = await listRequests(ctx, { ...wanted, ...bounds });
    const page = new Page(rows, request, ({ createdAt, id }) => timeCursorKey(createdAt, id));
    const facts = { count: page.nodes.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'certificate-request:list', projectId, facts });
    return counted(page, async () => countIn(await countRequests(ctx, wanted)));
  }
}

/** The audit record of reading a request. */
export const auditOfRead = ({ id, projectId }: { readonly id: string; readonly projectId: string }) => ({
  action: 'certificate-request:get',
  projectId,
  facts: { requestId: id },
});

/** A failed certificate request. */
interface FailedRequest {
  readonly requestId: string;
  /** ID of the certificate to renew; null for a new one. */
  readonly certificateId: string | null;
  /** Slug of the profile; null if unknown. */
  readonly profileId: string | null;
  /** Day of the database. */
  readonly day: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly commonName: string;
  readonly event: RequestKind;
  /** Error code, for example `CERTIFICATE_AUTHORITY_EXPIRED`. */
  readonly code: string;
}

/** The requester and the request. */
interface RequestDetails {
  readonly organizationId: string;
  readonly projectId: string;
  readonly kind: RequestKind;
  readonly profileId: string;
  readonly profileSlug: string;
  readonly commonName: string;
  /** The certificate to renew. */
  readonly certificateId: string | null;
}

/** Failures caused by the request or its authority, which are stored. Others, such as missing permissions, are only returned. */
const STORED_CODES: readonly string[] = [
  'VALIDATION_FAILED',
  ...['PENDING', 'DISABLED', 'REVOKED', 'EXPIRED'].map((status) => `CERTIFICATE_AUTHORITY_${status}`),
];

/** Errors in the form in which they are stored. They contain no input. */
export const storedErrors = (details: readonly ErrorDetail[] = []): readonly RequestError[] =>
  details.slice(0, 100).map(({ path, message }) => ({ path, message }));

/** The UTC day of a time of the database. */
export const utcDay = (time: Date): string => time.toISOString().slice(0, 10);

/** Stores certificate requests and their results. */
export class RequestLog {
  /** Stores a fulfilled request, in its transaction. */
  async storeIssued(tx: Transaction, details: RequestDetails, issuedCertificateId: string): Promise<void> {
    await insert(tx, details, { issuedCertificateId, errorCode: null, faults: [] });
  }

  /** Runs the work of a request, and stores the request if it fails with one of these codes. @throws what the work throws */
  async storingFailure<T>(ctx: Context, details: RequestDetails, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && STORED_CODES.includes(error.code)) await this.#storeFailed(ctx, details, error);
      throw error;
    }
  }

  async #storeFailed(ctx: Context, details: RequestDetails, { code, details: errors }: AppError): Promise<void> {
    const { organizationId, projectId, profileId, commonName, certificateId, kind: event } = details;
    // Not an effect of the request: its idempotency key can be reused.
    const { claim: _, ...unclaimed } = ctx;
    await inTransaction(unclaimed, async (tx) => {
      const failure = { issuedCertificateId: null, errorCode: code, faults: storedErrors(errors) };
      const { id, createdAt } = await insert(tx, details, failure);
      const owner = { organizationId, projectId, profileId, day: utcDay(createdAt) };
      await reportFailure(tx, { ...owner, requestId: id, certificateId, commonName, event, code });
    });
  }
}

/** Announces and records a failed request, in the transaction that stores it. */
export async function reportFailure(tx: Transaction, failed: FailedRequest): Promise<void> {
  await tx.events.certificateRequestFailed(tx, failed);
  const { projectId, requestId, code, certificateId } = failed;
  await tx.auditTrail.recordChange(tx, {
    action: 'certificate-request:fail',
    projectId,
    facts: { requestId, code, ...(certificateId === null ? {} : { certificateId }) },
  });
}

async function insert(
  tx: Transaction,
  { profileId: _, ...details }: RequestDetails,
  result: Pick<CertificateRequest, 'issuedCertificateId' | 'errorCode' | 'faults'>,
): Promise<CertificateRequest> {
  const request = tx.em.create(CertificateRequest, {
    ...details,
    ...result,
    state: result.errorCode === null ? 'issued' : 'failed',
    isAutomatic: false,
    actorKind: tx.actor.kind,
    actorId: tx.actor.id,
  });
  tx.em.assign(request, { endedAt: sql('now()') });
  await flush(tx);
  return request;
}
