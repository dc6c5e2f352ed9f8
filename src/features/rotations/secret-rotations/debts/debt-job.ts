import { raw as sql } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { AppError } from '../../../../kernel/errors.js';
import { NO_ID } from '../../../../kernel/ids.js';
import { backoffSeconds } from '../../../../kernel/jobs/backoff.js';
import { type Again, type JobKind, type JobRun, WAIT_FOR_KEY } from '../../../../kernel/jobs/job-kind.js';
import { notifyOfLiveCredentials } from '../../../notifications/project-notices/public.js';
import { CalledTarget, openConnection, type TargetFailure } from '../../app-connections/public.js';
import type { RotationTarget } from '../kind/rotation-kind.js';
import type { Kinds } from '../kinds/kinds.js';
import { CredentialDebt } from '../store/debt.entity.js';
import { findDebts, listDueDebts, secondsToNextDebt } from '../store/debt.queries.js';
import { failureOf } from '../store/failure.js';
import { lockRotation } from '../store/lock.js';
import { openCredential } from '../store/sealing.js';
import { PAY_DEBTS } from './debts.js';
import { endDeletions } from './giving-up.js';
import { lineOf, shownDebts } from './shown-debts.js';

/** Exponential pauses from half a minute to six hours, until it is revoked. */
const RETRY = { firstSeconds: 30, longestSeconds: 21_600, attempts: Number.POSITIVE_INFINITY };
const AT_ONCE = 50;
/** Revoking takes up to four calls of half a minute each. */
const CALLS_SECONDS = 130;
/** How long a revocation may fail before the project is notified. */
const PATIENCE_SECONDS = 86_400;
const AT_ONCE_AGAIN: Again = { againInSeconds: 0 };

type Debt = Awaited<ReturnType<typeof listDueDebts>>[number];

const OPEN_DEBTS =
  'Credentials of the connection are still to be revoked. Give them up with giveUpCredentialDebts, and the job ends.';

/** The job that revokes credentials, a standing one for each connection. */
export const debtJob = (kinds: Kinds): JobKind => ({
  ...PAY_DEBTS,
  concurrency: 16,
  concurrencyPerOrganization: 6,
  concurrencyPerTarget: 2,
  hasUrgentPlaces: true,
  leaseSeconds: 90,
  limitSeconds: 900,
  // Only failures of the service itself throw here; a revocation that fails has its own pauses.
  retry: { firstSeconds: 10, longestSeconds: 600, attempts: 1_000_000 },
  onCancel: async (tx, { subjectId }) => {
    const [next] = await secondsToNextDebt(tx, { connectionId: subjectId ?? NO_ID });
    if (next?.seconds != null || next?.hasLocked === true) throw new AppError('JOB_IS_NEEDED', OPEN_DEBTS);
  },
  run: async (ctx, run): Promise<Again | undefined> => {
    const connectionId = run.subjectId ?? NO_ID;
    const called = await CalledTarget.of(ctx, run, CALLS_SECONDS);
    if (called.pause !== null) return called.pause;
    for (;;) {
      const debts = await listDueDebts(ctx, { connectionId, patienceSeconds: PATIENCE_SECONDS, most: AT_ONCE });
      for (const debt of debts) {
        run.signal.throwIfAborted();
        const since = performance.now();
        const failure = await pay(ctx, run, { kinds, debt });
        await called.keep({ failure, since });
        if (failure === null) continue;
        await defer(run, { kinds, debt, failure });
        // The others wait as long as the system is left alone. Nothing of them has failed.
        if (called.isUnresponsive) return AT_ONCE_AGAIN;
      }
      if (debts.length < AT_ONCE) break;
    }
    const [next] = await secondsToNextDebt(ctx, { connectionId });
    if (next?.seconds != null) return { againInSeconds: next.seconds };
    return next?.hasLocked === true ? WAIT_FOR_KEY : undefined;
  },
});

async function pay(
  ctx: Context,
  run: JobRun,
  { kinds, debt }: { readonly kinds: Kinds; readonly debt: Debt },
): Promise<TargetFailure | null> {
  await run.reserve(CALLS_SECONDS);
  const failure = await revoke(ctx, { kinds, debt }).then(
    () => null,
    (error: unknown) => failureOf(error),
  );
  if (failure !== null) return failure;
  // A credential that does not exist yet may still appear, until the call that may have created it can no longer take effect.
  const { id, isSettled } = debt;
  const toWait = { errorCode: null, nextAt: sql('settled_at') };
  if (!isSettled) await run.inTransaction((tx) => tx.em.nativeUpdate(CredentialDebt, { id }, toWait));
  else await run.inTransaction((tx) => settle(tx, debt));
  return null;
}

/** Postpones a debt. The project is notified once if it has failed for long. */
async function defer(
  run: JobRun,
  {
    kinds,
    debt: { id, tries, isOverdue },
    failure: { code: errorCode, retryAfterSeconds },
  }: { readonly kinds: Kinds; readonly debt: Debt; readonly failure: TargetFailure },
): Promise<void> {
  const backoff = backoffSeconds(RETRY, tries + 1, Math.random()) ?? RETRY.longestSeconds;
  const pauseSeconds = Math.max(backoff, retryAfterSeconds ?? 0);
  await run.inTransaction(async (tx) => {
    const deferred = await tx.em.nativeUpdate(
      CredentialDebt,
      { id, nextAt: { $lte: sql('now()') } },
      { tries: sql('tries + 1'), errorCode, nextAt: sql('now() + make_interval(secs => ?)', [pauseSeconds]) },
    );
    if (deferred === 0 || !isOverdue) return;
    const { organizationId } = tx;
    const rows = await findDebts(tx, { organizationId, ids: [id] });
    for (const debt of await shownDebts(tx, kinds, rows, { isReading: true }))
      await notifyOfLiveCredentials(tx, {
        ...{ organizationId, projectId: debt.projectId, subjectId: id, state: 'not-revoked', errorCode },
        name: debt.rotationName ?? 'a deleted rotation',
        credentials: [lineOf(debt)],
      });
  });
}

async function revoke(ctx: Context, { kinds, debt }: { readonly kinds: Kinds; readonly debt: Debt }): Promise<void> {
  const { id, organizationId, projectId, rotationId, connectionId, type, name, credentialSealed } = debt;
  const kind = kinds.of(type);
  const parameters = (await kind.resolve?.(ctx, organizationId, debt.parameters)) ?? debt.parameters;
  const connection = await openConnection(ctx, connectionId);
  const target: RotationTarget = {
    ...{ rotationId, organizationId, projectId, parameters, connection },
    ...{ current: null, temporary: null },
  };
  if (credentialSealed === null) {
    if (name !== null) await kind.revokeByName?.(ctx, target, name);
    return;
  }
  const at = { table: 'credential_debt', column: 'credential', rowId: id, rowVersion: 1 } as const;
  await kind.revoke(ctx, target, await openCredential(ctx, debt, at, credentialSealed));
}

async function settle(tx: Transaction, { id, rotationId, projectId, reason }: Debt): Promise<void> {
  const rotation = await lockRotation(tx, rotationId);
  if ((await tx.em.nativeDelete(CredentialDebt, { id })) === 0) return;
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:revoke',
    projectId,
    facts: { rotationId, debtId: id, reason },
  });
  if (rotation !== null) await endDeletions(tx, [rotation], { revokes: true });
}
