import type { Context, Transaction } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { AppError } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { notifyOfFailure } from '../../notifications/project-notices/public.js';
import {
  type ConnectionRow,
  deleteUnusedTargets,
  findConnections,
  storeCheck,
  takeDueChecks,
} from './connection.sql.js';
import { digestOfAccount, openSecrets } from './connection-sealing.js';
import { isRefusal, TargetFailure } from './kind/target-failure.js';
import { type AnyKind, kindOf } from './kinds.js';
import { CalledTarget } from './unresponsive-targets.js';

/** Number of consecutive checks without a response after which a connection is failing. */
const PATIENCE = 3;
/** Time limit of a check within a request, shorter than that of the request. */
const REQUEST_LIMIT_MS = 20_000;

/** Decrypted credentials of a kind. */
export interface Credentials {
  readonly publicPart: object;
  readonly secrets: Readonly<Record<string, SealedText>>;
}

/** Result of a check. */
interface CheckResult {
  /** Null if the external system accepts the credentials. */
  readonly code: string | null;
  readonly isRefusal: boolean;
  /** Why the call failed; null if it did not. Absent: nothing was called. */
  readonly failure?: TargetFailure | null;
  /** The account that they log in to; null if it is not known. */
  readonly account: SealedText | null;
}

/**
 * Checks credentials against the external system within the time limit of a request.
 *
 * @returns the account that they log in to; null if it is not known
 * @throws TargetFailure
 */
export async function checkInRequest(
  ctx: Context,
  kind: AnyKind,
  { publicPart, secrets }: Credentials,
  policy: TargetPolicy,
): Promise<SealedText | null> {
  return inTime(kind.check(ctx, { ...publicPart, ...secrets }, policy));
}

/** Runs a call to an external system within the time limit of a request. @throws TargetFailure TARGET_TIMED_OUT */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = new TargetFailure('TARGET_TIMED_OUT', 'unknown', undefined, null, true);
    timer = setTimeout(reject, REQUEST_LIMIT_MS, failure);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks a stored connection. Secrets that cannot be decrypted count as rejected. @param within limits the time of the call */
export async function checkStored(
  ctx: Context,
  row: ConnectionRow,
  policy: TargetPolicy,
  within: <T>(work: Promise<T>) => Promise<T> = (work) => work,
): Promise<CheckResult> {
  const kind = kindOf(row.app);
  try {
    const secrets = await openSecrets(ctx, kind, row);
    const account = await within(kind.check(ctx, { ...row.publicPart, ...secrets }, policy));
    return { code: null, isRefusal: false, failure: null, account };
  } catch (error) {
    if (error instanceof TargetFailure)
      return { code: error.code, isRefusal: isRefusal(error), failure: error, account: null };
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID')
      return { code: error.code, isRefusal: true, account: null };
    throw error;
  }
}

/**
 * Stores the result of a check. When the connection starts to fail, notifies its users once until it works again.
 *
 * @returns whether the state changed, or the credentials were replaced in the meantime
 */
export async function storeResult(
  tx: Transaction,
  row: ConnectionRow,
  { code, isRefusal, account }: CheckResult,
): Promise<'same' | 'changed' | 'replaced'> {
  const { id, organizationId, credentialsVersion } = row;
  const accountDigest = await digestOfAccount(tx, row.app, account);
  const result = { id, organizationId, credentialsVersion, code, isRefusal, accountDigest };
  const [stored] = await storeCheck(tx, { ...result, patience: PATIENCE });
  if (stored === undefined) return 'replaced';
  const { stateBefore, state, failingSince: since } = stored;
  if (state === stateBefore) return 'same';
  if (state === 'failing' && code !== null && since !== null) {
    const projectIds = row.projectId === null ? await usersOf(tx, id) : [row.projectId];
    const { name, app } = row;
    await notifyOfFailure(tx, { organizationId, projectIds, connectionId: id, name, app, code, since });
  }
  return 'changed';
}

/** Projects with rotations that use a connection of the organization; if there are none, the organization itself. */
async function usersOf(tx: Transaction, id: string): Promise<(string | null)[]> {
  const uses = await tx.providers.listConnectionUses(tx, { connectionIds: [id] });
  const projectIds = new Set(uses.map(({ projectId }) => projectId));
  return projectIds.size === 0 ? [null] : [...projectIds];
}

const AT_ONCE = 500;
/** Time limit of a check, including what surrounds the call. */
const LIMIT_SECONDS = 45;

/** Whether another check could lock the account. New credentials or a manual check reset this. */
const mayLock = ({ app, checkState, checkCode }: ConnectionRow): boolean =>
  kindOf(app).locksAccounts === true && checkState === 'failing' && checkCode === 'CREDENTIALS_REJECTED';

/** The jobs that check the credentials of connections. */
export function checkJobs(policy: TargetPolicy): readonly JobKind[] {
  const check: JobKind = {
    name: 'app-connections:check',
    description: 'Checks whether the external system still accepts the credentials of a connection.',
    concurrency: 16,
    concurrencyPerOrganization: 6,
    concurrencyPerTarget: 2,
    limitSeconds: 2 * LIMIT_SECONDS,
    run: async (ctx, run) => {
      const ids = [run.subjectId ?? NO_ID];
      const [row] = await findConnections(ctx, { organizationId: ctx.organizationId, ids });
      if (row === undefined || mayLock(row)) return undefined;
      const { target } = row;
      // That of the job may be the one that the connection led to when it was queued.
      const called = await CalledTarget.of(ctx, { target, isUrgent: run.isUrgent }, 2 * LIMIT_SECONDS);
      if (called.pause !== null) return called.pause;
      await run.reserve(LIMIT_SECONDS);
      const since = performance.now();
      const result = await checkStored(ctx, row, policy);
      await run.inTransaction(async (tx) => {
        if ((await storeResult(tx, row, result)) !== 'changed') return;
        // An unchanged state is not recorded: it would add one audit record per check.
        await tx.auditTrail.recordChange(tx, {
          action: 'app-connection:check',
          projectId: row.projectId,
          facts: { connectionId: row.id, app: row.app, checkCode: result.code },
        });
      });
      if (result.failure !== undefined) await called.record({ failure: result.failure, since });
      return undefined;
    },
  };
  const findDue: JobKind = {
    name: 'app-connections:find-due',
    description: 'Queues a check of each connection about once an hour.',
    everySeconds: 300,
    run: async (_, run) => {
      await run.inTransaction((tx) => deleteUnusedTargets(tx, {}));
      for (let taken = AT_ONCE; taken === AT_ONCE; )
        taken = await run.inTransaction(async (tx) => {
          const due = await takeDueChecks(tx, { most: AT_ONCE });
          await enqueueStanding(
            tx,
            check,
            due.map(({ id, ...place }) => ({ key: id, subjectId: id, ...place })),
          );
          return due.length;
        });
    },
  };
  return [check, findDue];
}
