import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { RequestKind } from './request.entity.js';
import { insertRequest } from './request.sql.js';

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
export const storedFaults = (details: readonly ErrorDetail[] = []): string =>
  JSON.stringify(details.slice(0, 100).map(({ path, message }) => ({ path, message })));

/** Stores certificate requests and their results. */
export class RequestLog {
  constructor(private readonly onFailed: OnRequestFailed) {}

  /** Stores a fulfilled request, in its transaction. */
  async keepIssued(tx: Transaction, asked: Asked, issuedCertificateId: string): Promise<void> {
    await insert(tx, asked, { id: newId(), issuedCertificateId, errorCode: null, faults: '[]' });
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
    const id = newId();
    // Not an effect of the request: its idempotency key can be reused.
    const { claim: _, ...unclaimed } = ctx;
    await inTransaction(unclaimed, async (tx) => {
      const day = await insert(tx, asked, {
        ...{ id, issuedCertificateId: null, errorCode: code, faults: storedFaults(details) },
      });
      const owner = { organizationId, projectId, profileId };
      await this.onFailed(tx, { ...owner, requestId: id, certificateId, commonName, event, code, day });
      await tx.auditTrail.recordChange(tx, {
        action: 'certificate-request:fail',
        projectId,
        facts: { requestId: id, code, ...(certificateId === null ? {} : { certificateId }) },
      });
    });
  }
}

/** @returns the day */
async function insert(
  tx: Transaction,
  { profileId: _, ...asked }: Asked,
  ended: {
    readonly id: string;
    readonly issuedCertificateId: string | null;
    readonly errorCode: string | null;
    readonly faults: string;
  },
): Promise<string> {
  const [inserted] = await insertRequest(tx, {
    ...asked,
    ...ended,
    state: ended.errorCode === null ? 'issued' : 'failed',
    actorKind: tx.actor.kind,
    actorId: tx.actor.id,
  });
  return inserted?.day ?? '';
}
