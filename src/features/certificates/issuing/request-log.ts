import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { RequestKind } from './request.entity.js';
import { insertRequest } from './request.sql.js';

/** A request for a certificate that could not be fulfilled. */
export interface FailedRequest {
  readonly requestId: string;
  /** Which certificate was to be renewed; null for a new one. */
  readonly certificateId: string | null;
  /** By which profile; null where nobody knows any more. */
  readonly profileId: string | null;
  /** When, as a day of the database. */
  readonly day: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly commonName: string;
  readonly event: RequestKind;
  /** Why, as `CERTIFICATE_AUTHORITY_EXPIRED`. */
  readonly code: string;
}

/** Called in the transaction in which a request is kept as failed. */
export type OnRequestFailed = (tx: Transaction, failed: FailedRequest) => Promise<void>;

/** Who asked for what. */
export interface Asked {
  readonly organizationId: string;
  readonly projectId: string;
  readonly kind: RequestKind;
  readonly profileId: string;
  readonly profileSlug: string;
  readonly commonName: string;
  /** Which certificate is to be renewed. */
  readonly certificateId: string | null;
}

/** Failures that say something of the request or its authority. Others, as of rights, are only answered. */
const KEPT: readonly string[] = [
  'VALIDATION_FAILED',
  ...['PENDING', 'DISABLED', 'REVOKED', 'EXPIRED'].map((status) => `CERTIFICATE_AUTHORITY_${status}`),
];

/** Faults as they are stored. They hold no value of a caller. */
export const storedFaults = (details: readonly ErrorDetail[] = []): string =>
  JSON.stringify(details.slice(0, 100).map(({ path, message }) => ({ path, message })));

/** Keeps requests that people and machines make, with what became of them. */
export class RequestLog {
  constructor(private readonly onFailed: OnRequestFailed) {}

  /** Keeps a request that was fulfilled, in its transaction. */
  async keepIssued(tx: Transaction, asked: Asked, issuedCertificateId: string): Promise<void> {
    await insert(tx, asked, { id: newId(), issuedCertificateId, errorCode: null, faults: '[]' });
  }

  /** Does the work of a request, and keeps the request where it fails for a reason of its own. @throws what the work throws */
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
    // Not the effect of the request: its idempotency key stays free.
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
