import { raw as sql } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../kernel/context.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { CertificateRequest, type RequestFault, type RequestKind } from './request.entity.js';

/** A failed certificate request. */
export interface FailedRequest {
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

/** Called in the transaction that stores a failed request. */
export type OnRequestFailed = (tx: Transaction, failed: FailedRequest) => Promise<void>;

/** The requester and the request. */
export interface Asked {
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
const KEPT: readonly string[] = [
  'VALIDATION_FAILED',
  ...['PENDING', 'DISABLED', 'REVOKED', 'EXPIRED'].map((status) => `CERTIFICATE_AUTHORITY_${status}`),
];

/** Errors in the form in which they are stored. They contain no input. */
export const storedFaults = (details: readonly ErrorDetail[] = []): readonly RequestFault[] =>
  details.slice(0, 100).map(({ path, message }) => ({ path, message }));

/** The UTC day of a time of the database. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** Stores certificate requests and their results. */
export class RequestLog {
  constructor(private readonly onFailed: OnRequestFailed) {}

  /** Stores a fulfilled request, in its transaction. */
  async keepIssued(tx: Transaction, asked: Asked, issuedCertificateId: string): Promise<void> {
    await insert(tx, asked, { issuedCertificateId, errorCode: null, faults: [] });
  }

  /** Runs the work of a request, and stores the request if it fails with one of these codes. @throws what the work throws */
  async keepingFailure<T>(ctx: Context, asked: Asked, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && KEPT.includes(error.code)) await this.#keepFailed(ctx, asked, error);
      throw error;
    }
  }

  async #keepFailed(ctx: Context, asked: Asked, { code, details }: AppError): Promise<void> {
    const { organizationId, projectId, profileId, commonName, certificateId, kind: event } = asked;
    // Not an effect of the request: its idempotency key can be reused.
    const { claim: _, ...unclaimed } = ctx;
    await inTransaction(unclaimed, async (tx) => {
      const failure = { issuedCertificateId: null, errorCode: code, faults: storedFaults(details) };
      const { id, createdAt } = await insert(tx, asked, failure);
      const owner = { organizationId, projectId, profileId, day: dayOf(createdAt) };
      await this.onFailed(tx, { ...owner, requestId: id, certificateId, commonName, event, code });
      await tx.auditTrail.recordChange(tx, {
        action: 'certificate-request:fail',
        projectId,
        facts: { requestId: id, code, ...(certificateId === null ? {} : { certificateId }) },
      });
    });
  }
}

async function insert(
  tx: Transaction,
  { profileId: _, ...asked }: Asked,
  result: Pick<CertificateRequest, 'issuedCertificateId' | 'errorCode' | 'faults'>,
): Promise<CertificateRequest> {
  const request = tx.em.create(CertificateRequest, {
    ...asked,
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
