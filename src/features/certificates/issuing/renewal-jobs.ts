import { LockMode, raw as sql } from '@mikro-orm/core';
import { type Context, SYSTEM, type Transaction } from '../../../kernel/context.js';
import { isKeyDisabled } from '../../../kernel/crypto/sealed-text.js';
import { flush } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import {
  type JobKind,
  type JobRun,
  LeaseLost,
  PermanentFailure,
  type RetryPolicy,
} from '../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import { Project } from '../../projects/public.js';
import { findCertificates } from '../certificates/certificate.queries.js';
import type { OnCertificateEvent } from '../certificates/certificate.service.js';
import { findProfiles } from '../profiles/profile.queries.js';
import { CertificateRequest } from './request.entity.js';
import { findDue, findRequests, listDue, type RequestRow, requestRenewals } from './request.queries.js';
import { dayOf, type OnRequestFailed, storedFaults } from './request.service.js';

/** The shortest pause after a failure. */
const EVERY_SECONDS = 300;
const AT_ONCE = 500;
const DELETED_AT_ONCE = 1_000;
const KEPT_DAYS = 90;
const RETRY: RetryPolicy = { firstSeconds: 30, longestSeconds: 600, attempts: 5 };
/** Failures that no retry can fix, only a change of the authority, the profile or the certificate. */
const isRefusal = (error: unknown): error is AppError | PermanentFailure =>
  error instanceof PermanentFailure || (error instanceof AppError && error.status < 500 && !isKeyDisabled(error));

const endedNow = () => ({ endedAt: sql('now()'), updatedAt: sql('now()') });

interface Parts {
  readonly onEvent: OnCertificateEvent;
  readonly onRequestFailed: OnRequestFailed;
}

/** The jobs of automatic renewal. They act by the setting of profiles, without a caller's permissions. */
export function renewalJobs(parts: Parts): readonly JobKind[] {
  const renew: JobKind = {
    name: 'certificates:renew',
    description: 'Renews one certificate before it expires.',
    concurrency: 2,
    retry: RETRY,
    run: (ctx, run) => renewOne(ctx, run, parts),
  };
  const find: JobKind = {
    name: 'certificates:find-renewals',
    description: `Finds certificates that are due for renewal, and deletes certificate requests after ${KEPT_DAYS} days.`,
    everySeconds: EVERY_SECONDS,
    run: async (ctx, run) => {
      for (let deleted = 1; deleted > 0; ) deleted = await run.inTransaction(deleteOldRequests);
      for (let after = NO_ID; ; ) {
        const ids = (await listDue(ctx, { after, most: AT_ONCE })).map(({ id }) => id);
        if (ids.length === 0) return;
        await run.inTransaction(async (tx) => {
          await requestRenewals(tx, { ids, actorId: SYSTEM.id });
          const waiting = await tx.em.find(CertificateRequest, { certificateId: { $in: ids }, state: 'pending' });
          await enqueueStanding(
            tx,
            renew,
            waiting.map(({ id, organizationId, projectId }) => ({ key: id, organizationId, projectId, subjectId: id })),
          );
        });
        after = ids.at(-1) ?? after;
      }
    },
  };
  return [find, renew];
}

/** Deletes old finished requests, and pending ones that nobody works on any more. @returns how many */
async function deleteOldRequests(tx: Transaction): Promise<number> {
  const isOld = { endedAt: { $lt: sql('now() - make_interval(days => ?)', [KEPT_DAYS]) } };
  const isLeft = { state: 'pending', createdAt: { $lt: sql(`now() - interval '1 day'`) } } as const;
  const locked = { fields: ['projectId'], limit: DELETED_AT_ONCE, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const old = await tx.em.find(CertificateRequest, { $or: [isOld, isLeft] }, locked);
  if (old.length === 0) return 0;
  await tx.em.nativeDelete(CertificateRequest, { id: { $in: old.map(({ id }) => id) } });
  // Responses that show them are not repeated.
  const projectIds = old.map(({ projectId }) => projectId);
  await tx.em.nativeUpdate(Project, { id: { $in: projectIds } }, { revision: sql('revision + 1') });
  return old.length;
}

async function renewOne(ctx: Context, run: JobRun, parts: Parts): Promise<void> {
  const [request] = await findRequests(ctx, { ids: [run.subjectId ?? NO_ID] });
  if (request === undefined || request.state !== 'pending') return;
  try {
    await fulfil(ctx, run, { request, onEvent: parts.onEvent });
  } catch (error) {
    if (isKeyDisabled(error)) await notifyOfWaiting(run, request, parts);
    const isLast = !isKeyDisabled(error) && run.attempt >= RETRY.attempts;
    if (error instanceof LeaseLost || run.signal.aborted || !(isRefusal(error) || isLast)) throw error;
    await fail(run, { request, error, onRequestFailed: parts.onRequestFailed });
  }
}

/** Notifies, once a day, that a renewal waits for the key of its project. */
async function notifyOfWaiting(run: JobRun, request: RequestRow, { onRequestFailed }: Parts): Promise<void> {
  const { organizationId, projectId, certificateId, commonName, kind: event } = request;
  await run.inTransaction((tx) =>
    onRequestFailed(tx, {
      ...{ requestId: request.id, certificateId, profileId: null, day: dayOf(new Date()) },
      ...{ projectId, organizationId, commonName, event, code: 'KEY_DISABLED' },
    }),
  );
}

async function fulfil(
  ctx: Context,
  run: JobRun,
  { request, onEvent }: Pick<Parts, 'onEvent'> & { readonly request: RequestRow },
): Promise<void> {
  const certificateId = request.certificateId ?? NO_ID;
  const [due] = await findDue(ctx, { id: certificateId });
  const [row] = await findCertificates(ctx, { ids: [certificateId] });
  const [profile] = row?.profileId == null ? [] : await findProfiles(ctx, { ids: [row.profileId] });
  if (due === undefined || row === undefined || profile === undefined) {
    await run.inTransaction((tx) => tx.em.nativeDelete(CertificateRequest, { id: request.id, state: 'pending' }));
    return;
  }
  const { perform, prepare } = await import('./renewal.js');
  const prepared = await prepare(
    ctx,
    { row, profile },
    {
      ...{ csr: null, keyAlgorithm: null, life: {}, expectedVersion: null, endsAfter: due.notAfter },
      key: row.hasPrivateKey ? 'new' : 'same',
    },
  );
  await run.inTransaction(async (tx) => {
    const held = await lockPending(tx, request.id);
    if (held === null) return;
    const { id, version } = await perform(tx, prepared);
    const { organizationId, projectId, profileId } = row;
    tx.em.assign(held, { state: 'issued', issuedCertificateId: id, ...endedNow() });
    await flush(tx);
    await onEvent(tx, { certificateId: id, organizationId, projectId, event: 'renewal' });
    await tx.auditTrail.recordChange(tx, {
      action: 'certificate:renew',
      projectId,
      facts: { certificateId: row.id, version, renewalId: id, profileId: profileId as string },
    });
  });
}

async function fail(
  run: JobRun,
  { request, error, onRequestFailed }: Pick<Parts, 'onRequestFailed'> & { request: RequestRow; error: unknown },
): Promise<void> {
  const code = error instanceof AppError || error instanceof PermanentFailure ? error.code : 'INTERNAL';
  const faults = storedFaults(error instanceof AppError ? error.details : []);
  await run.inTransaction(async (tx) => {
    const held = await lockPending(tx, request.id);
    if (held === null) return;
    // Renewed or revoked in the meantime: nothing is left to do.
    if (code === 'CERTIFICATE_RENEWED' || code === 'CERTIFICATE_REVOKED') {
      tx.em.remove(held);
      await flush(tx);
      return;
    }
    tx.em.assign(held, { state: 'failed', errorCode: code, faults, ...endedNow() });
    await flush(tx);
    const { organizationId, projectId, certificateId = null, commonName, kind: event, updatedAt } = held;
    await onRequestFailed(tx, {
      requestId: held.id,
      ...{ certificateId, profileId: null, day: dayOf(updatedAt) },
      projectId,
      organizationId,
      commonName,
      event,
      code,
    });
    await tx.auditTrail.recordChange(tx, {
      action: 'certificate-request:fail',
      projectId,
      facts: { requestId: held.id, code, ...(certificateId === null ? {} : { certificateId }) },
    });
  });
}

/** The request, locked until the transaction ends; null if it is not pending any more. */
const lockPending = (tx: Transaction, id: string): Promise<CertificateRequest | null> =>
  tx.em.findOne(CertificateRequest, { id, state: 'pending' }, { lockMode: LockMode.PESSIMISTIC_WRITE });
