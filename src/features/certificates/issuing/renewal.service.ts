import { LockMode, raw as sql } from '@mikro-orm/core';
import { authorize } from '../../../kernel/authz/ability.js';
import { type Context, SYSTEM, type Transaction } from '../../../kernel/context.js';
import { isKeyDisabled } from '../../../kernel/crypto/sealed-text.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError, invalid } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import {
  type JobKind,
  type JobRun,
  LeaseLost,
  PermanentFailure,
  type RetryPolicy,
} from '../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import { parse, refuseViolations } from '../../../kernel/validation.js';
import { Project } from '../../projects/public.js';
import { type CertificateRow, findCertificates, findCurrent } from '../certificates/certificate.queries.js';
import type { CertificateService } from '../certificates/certificate.service.js';
import { findProfiles, type ProfileRow } from '../profiles/profile.queries.js';
import type { ProfileService } from '../profiles/profile.service.js';

import { OneLineage, RenewCertificate } from './issue.rules.js';
import { CertificateRequest } from './request.entity.js';
import { findDueRenewal, findRequests, listDueRenewals, type RequestRow, requestRenewals } from './request.queries.js';
import { type RequestLog, reportFailure, storedErrors, utcDay } from './request.service.js';

const NOT_FOUND = 'CERTIFICATE_NOT_FOUND';

/**
 * Renews certificates. A certificate is renewed once; later its renewal is renewed. All of them form a lineage.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class RenewalService {
  constructor(
    private readonly certificates: CertificateService,
    private readonly profiles: ProfileService,
    private readonly log: RequestLog,
  ) {}

  /**
   * Issues a certificate with the content of another one for a new validity period: with the same key, a new one, or that of a PKCS#10
   * request. Callers that can issue the certificate can renew it. The old one stays valid until it expires.
   *
   * @returns the renewal
   * @throws CERTIFICATE_NOT_FOUND, CERTIFICATE_PROFILE_NOT_FOUND; CERTIFICATE_WITHOUT_PROFILE if neither the certificate nor the request
   *   has one; CERTIFICATE_RENEWED if it was renewed already; CERTIFICATE_REVOKED if it is revoked and would keep its key;
   *   CONCURRENT_CHANGE if `expectedVersion` differs; VALIDATION_FAILED with everything that the profile does not allow, and as `readCsr`;
   *   as `loadIssuer` about the authority of the profile
   */
  async renew(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const input = parse(RenewCertificate, raw);
    const text = input.csr == null || input.csr === '' ? null : input.csr;
    if (text !== null)
      refuseViolations(
        (['key', 'keyAlgorithm'] as const)
          .filter((field) => input[field] != null)
          .map((path) => invalid(path, 'must be absent if csr is set')),
      );
    const { row, profile } = await this.#load(ctx, input.id, input.profileId);
    const { readCsr } = await import('../x509/csr.js');
    const csr = text === null ? null : await readCsr({ path: 'csr', text });
    const { organizationId, projectId, commonName } = row;
    const by = { profileId: profile.id, profileSlug: profile.slug };
    const details = { organizationId, projectId, ...by, kind: 'renewal', commonName } as const;
    return this.log.storingFailure(ctx, { ...details, certificateId: row.id }, async () => {
      const { performRenewal, prepareRenewal } = await import('./renewal.js');
      const prepared = await prepareRenewal(
        ctx,
        { row, profile },
        {
          ...{ csr, keyAlgorithm: input.keyAlgorithm ?? null, life: input },
          key: input.key ?? (row.hasPrivateKey ? 'new' : 'same'),
          expectedVersion: input.expectedVersion ?? null,
        },
      );
      return inTransaction(ctx, async (tx) => {
        await this.#load(tx, row.id, profile.id);
        const { id, version } = await performRenewal(tx, prepared);
        await this.log.storeIssued(tx, { ...details, certificateId: row.id }, id);
        await announce(tx, { row, profile, renewalId: id, version });
        return loadRow(tx, findCertificates, { ids: [id] }, NOT_FOUND);
      });
    });
  }

  /** The most recent unrevoked certificate of a lineage. @throws CERTIFICATE_NOT_FOUND */
  async current(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { lineageId } = parse(OneLineage, raw);
    const [found] = isId(lineageId) ? await findCurrent(ctx, { lineageIds: [lineageId] }) : [];
    return this.certificates.get(ctx, { id: found?.id ?? NO_ID });
  }

  /** Loads the certificate and its profile for a caller that can issue such certificates. */
  async #load(
    ctx: Context,
    id: string,
    wantedProfileId: string | null | undefined,
  ): Promise<{ readonly row: CertificateRow; readonly profile: ProfileRow }> {
    const { row, project } = await this.certificates.load(ctx, id, 'certificates:create');
    authorize(project, 'certificate-profiles:issue-cert');
    for (const commonName of new Set(row.sans)) authorize(project, 'certificates:create', { commonName });
    const profileId = wantedProfileId ?? row.profileId;
    if (profileId === null) throw new AppError('CERTIFICATE_WITHOUT_PROFILE');
    const { row: profile } = await this.profiles.load(ctx, profileId, 'certificate-profiles:issue-cert');
    if (profile.projectId !== row.projectId) throw new AppError('CERTIFICATE_PROFILE_NOT_FOUND');
    return { row, profile };
  }
}

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

/** The jobs of automatic renewal. They act by the setting of profiles, without a caller's permissions. */
export function renewalJobs(): readonly JobKind[] {
  const renew: JobKind = {
    name: 'certificates:renew',
    description: 'Renews one certificate before it expires.',
    concurrency: 2,
    retry: RETRY,
    run: renewOne,
  };
  const find: JobKind = {
    name: 'certificates:find-renewals',
    description: `Finds certificates that are due for renewal, and deletes certificate requests after ${KEPT_DAYS} days.`,
    everySeconds: EVERY_SECONDS,
    run: async (ctx, run) => {
      for (let deleted = 1; deleted > 0; ) deleted = await run.inTransaction(deleteOldRequests);
      for (let after = NO_ID; ; ) {
        const ids = (await listDueRenewals(ctx, { after, most: AT_ONCE })).map(({ id }) => id);
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

async function renewOne(ctx: Context, run: JobRun): Promise<void> {
  const [request] = await findRequests(ctx, { ids: [run.subjectId ?? NO_ID] });
  if (request === undefined || request.state !== 'pending') return;
  try {
    await performRequest(ctx, run, request);
  } catch (error) {
    if (isKeyDisabled(error)) await notifyOfWaiting(run, request);
    const isLast = !isKeyDisabled(error) && run.attempt >= RETRY.attempts;
    if (error instanceof LeaseLost || run.signal.aborted || !(isRefusal(error) || isLast)) throw error;
    await fail(run, request, error);
  }
}

/** Notifies, once a day, that a renewal waits for the key of its project. */
async function notifyOfWaiting(run: JobRun, request: RequestRow): Promise<void> {
  const { organizationId, projectId, certificateId, commonName, kind: event } = request;
  await run.inTransaction((tx) =>
    tx.events.certificateRequestFailed(tx, {
      ...{ requestId: request.id, certificateId, profileId: null, day: utcDay(new Date()) },
      ...{ projectId, organizationId, commonName, event, code: 'KEY_DISABLED' },
    }),
  );
}

async function performRequest(ctx: Context, run: JobRun, request: RequestRow): Promise<void> {
  const certificateId = request.certificateId ?? NO_ID;
  const [due] = await findDueRenewal(ctx, { id: certificateId });
  const [row] = await findCertificates(ctx, { ids: [certificateId] });
  const [profile] = row?.profileId == null ? [] : await findProfiles(ctx, { ids: [row.profileId] });
  if (due === undefined || row === undefined || profile === undefined) {
    await run.inTransaction((tx) => tx.em.nativeDelete(CertificateRequest, { id: request.id, state: 'pending' }));
    return;
  }
  const { performRenewal, prepareRenewal } = await import('./renewal.js');
  const prepared = await prepareRenewal(
    ctx,
    { row, profile },
    {
      ...{ csr: null, keyAlgorithm: null, life: {}, expectedVersion: null, endsAfter: due.notAfter },
      key: row.hasPrivateKey ? 'new' : 'same',
    },
  );
  await run.inTransaction(async (tx) => {
    const locked = await lockPending(tx, request.id);
    if (locked === null) return;
    const { id, version } = await performRenewal(tx, prepared);
    tx.em.assign(locked, { state: 'issued', issuedCertificateId: id, ...endedNow() });
    await flush(tx);
    await announce(tx, { row, profile, renewalId: id, version });
  });
}

/** Announces and records a renewal, in its transaction. */
async function announce(
  tx: Transaction,
  {
    row: { id: certificateId, organizationId, projectId },
    profile: { id: profileId },
    renewalId,
    version,
  }: { row: CertificateRow; profile: ProfileRow; renewalId: string; version: number },
): Promise<void> {
  await tx.events.certificateChanged(tx, { certificateId: renewalId, organizationId, projectId, event: 'renewal' });
  await tx.auditTrail.recordChange(tx, {
    action: 'certificate:renew',
    projectId,
    facts: { certificateId, version, renewalId, profileId },
  });
}

async function fail(run: JobRun, request: RequestRow, error: unknown): Promise<void> {
  const code = error instanceof AppError || error instanceof PermanentFailure ? error.code : 'INTERNAL';
  const faults = storedErrors(error instanceof AppError ? error.details : []);
  await run.inTransaction(async (tx) => {
    const locked = await lockPending(tx, request.id);
    if (locked === null) return;
    // Renewed or revoked in the meantime: nothing is left to do.
    if (code === 'CERTIFICATE_RENEWED' || code === 'CERTIFICATE_REVOKED') {
      tx.em.remove(locked);
      await flush(tx);
      return;
    }
    tx.em.assign(locked, { state: 'failed', errorCode: code, faults, ...endedNow() });
    await flush(tx);
    const { organizationId, projectId, certificateId = null, commonName, kind: event, updatedAt } = locked;
    await reportFailure(tx, {
      ...{ requestId: locked.id, certificateId, profileId: null, day: utcDay(updatedAt) },
      ...{ organizationId, projectId, commonName, event, code },
    });
  });
}

/** The request, locked until the transaction ends; null if it is not pending any more. */
const lockPending = (tx: Transaction, id: string): Promise<CertificateRequest | null> =>
  tx.em.findOne(CertificateRequest, { id, state: 'pending' }, { lockMode: LockMode.PESSIMISTIC_WRITE });
