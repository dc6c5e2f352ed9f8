import type { Context, Transaction } from '../../../kernel/context.js';
import { flush } from '../../../kernel/database/in-transaction.js';
import { NO_ID } from '../../../kernel/ids.js';
import { backoffSeconds } from '../../../kernel/jobs/backoff.js';
import type { Again, JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { openConnection, type TargetFailure } from '../../app-connections/public.js';
import { releaseRotated } from '../../secrets/public.js';
import type { RotationTarget } from '../kind/rotation-kind.js';
import type { Kinds } from '../kinds/kinds.js';
import {
  awaitDebt,
  countOpenDeletions,
  deferDebts,
  listDueDebts,
  secondsToNextDebt,
  settleDebt,
} from '../store/debt.sql.js';
import { failureOf } from '../store/failure.js';
import { lockRotation } from '../store/lock.js';
import { openCredential } from '../store/sealing.js';
import { PAY_DEBTS } from './debts.js';

/** Exponential pauses from half a minute to six hours, until it is revoked. */
const RETRY = { firstSeconds: 30, longestSeconds: 21_600, attempts: Number.POSITIVE_INFINITY };
const AT_ONCE = 50;
/** Revoking takes up to four calls of half a minute each. */
const CALLS_SECONDS = 130;
/** Failures of an unreachable system, whatever the call. */
const AWAY: readonly string[] = ['TARGET_UNREACHABLE', 'TARGET_TIMED_OUT', 'TARGET_CERTIFICATE'];

type Debt = Awaited<ReturnType<typeof listDueDebts>>[number];

/** The job that revokes credentials, a standing one for each connection. */
export const debtJob = (kinds: Kinds): JobKind => ({
  ...PAY_DEBTS,
  concurrency: 16,
  concurrencyPerOrganization: 6,
  leaseSeconds: 90,
  limitSeconds: 900,
  // Only failures of the service itself throw here; a revocation that fails has its own pauses.
  retry: { firstSeconds: 10, longestSeconds: 600, attempts: 1_000_000 },
  run: async (ctx, run): Promise<Again | undefined> => {
    const connectionId = run.subjectId ?? NO_ID;
    for (;;) {
      const debts = await listDueDebts(ctx, { connectionId, most: AT_ONCE });
      for (const [at, debt] of debts.entries()) {
        run.signal.throwIfAborted();
        const failure = await pay(ctx, run, { kinds, debt });
        if (failure === null) continue;
        // If the system is unreachable, all others wait as well: its timeouts would delay other connections.
        const isAway = AWAY.includes(failure.code);
        await defer(run, isAway ? debts.slice(at) : [debt], failure);
        if (isAway) break;
      }
      if (debts.length < AT_ONCE) break;
    }
    const [next] = await secondsToNextDebt(ctx, { connectionId });
    return next?.seconds == null ? undefined : { againInSeconds: next.seconds };
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
  if (!debt.isSettled) await run.inTransaction((tx) => awaitDebt(tx, { id: debt.id }));
  else await run.inTransaction((tx) => settle(tx, debt));
  return null;
}

/** Postpones debts, each by its own pause. */
async function defer(
  run: JobRun,
  debts: readonly Debt[],
  { code: errorCode, retryAfterSeconds }: TargetFailure,
): Promise<void> {
  const pauses = debts.map(({ tries }) => {
    const backoff = backoffSeconds(RETRY, tries + 1, Math.random()) ?? RETRY.longestSeconds;
    return Math.max(backoff, retryAfterSeconds ?? 0);
  });
  const ids = debts.map(({ id }) => id);
  await run.inTransaction((tx) => deferDebts(tx, { ids, pauses, errorCode }));
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
  if ((await settleDebt(tx, { id })).length === 0) return;
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:revoke',
    projectId,
    facts: { rotationId, debtId: id, reason },
  });
  if (rotation?.status !== 'deleting') return;
  const [open] = await countOpenDeletions(tx, { rotationId });
  if (open === undefined || open.count > 0) return;
  await releaseRotated(tx, rotation, { rotationId, isDeleting: rotation.isDeletingSecrets });
  tx.em.remove(rotation);
  await flush(tx);
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:delete',
    projectId,
    facts: { rotationId, deletesSecrets: rotation.isDeletingSecrets, revokes: true },
  });
}
