import { type Actor, type Context, SYSTEM, type Transaction } from '../../../../kernel/context.js';
import { isKeyDisabled } from '../../../../kernel/crypto/sealed-text.js';
import { emOf } from '../../../../kernel/database/database.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../../kernel/database/now.sql.js';
import { NO_ID } from '../../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../../kernel/jobs/queue.js';
import { notifyOfFailedRotation } from '../../../notifications/project-notices/public.js';
import { CalledTarget, openConnection } from '../../app-connections/public.js';
import { failureOf } from '../kind/rotation-kind.js';
import type { Kinds, RotationType } from '../kinds/kinds.js';
import { REVOKE_CREDENTIALS } from '../revocations/revocations.js';
import type { AttemptReason } from '../store/attempt.entity.js';
import { listConnectionsWithoutRevocationJob } from '../store/pending-revocation.queries.js';
import { SecretRotation } from '../store/rotation.entity.js';
import { listDistances, listDueRotations, listRotationsWithoutJob, lockRotation } from '../store/rotation.sql.js';
import { WAIT_MESSAGES } from '../store/states.js';
import { mayStartAt } from '../store/timing.js';
import { Attempting } from './attempting.js';
import { beginAttempt, ROTATE_JOB } from './begin.js';
import { cancelWithJob } from './cancelling.js';
import { ACCOUNT_ROTATED, claimAccount, notify } from './outcomes.js';

const MINUTE_SECONDS = 60;
const AT_ONCE = 500;
/** After which another rotation may try a system that did not respond: a call, a look for its result and a check take less. */
const TRIAL_SECONDS = 180;

/** The jobs that start due automatic rotations and carry out started ones. */
export function rotationJobs(kinds: Kinds): readonly JobKind[] {
  const rotate: JobKind = {
    ...ROTATE_JOB,
    // They mostly wait for others: one takes a connection, or a process of some megabytes.
    concurrency: 32,
    concurrencyPerOrganization: 8,
    concurrencyPerTarget: 2,
    hasUrgentSlots: true,
    leaseSeconds: 90,
    limitSeconds: 600,
    // An unknown result is looked up until it is known.
    retry: { firstSeconds: 2, longestSeconds: 300, attempts: 1_000_000 },
    onCancel: cancelWithJob(kinds),
    run: async (ctx, run) => {
      const rotationId = run.subjectId ?? NO_ID;
      const called = await CalledTarget.of(ctx, run, TRIAL_SECONDS);
      if (called.pause !== null) return called.pause;
      await beginIfDue(run, { kinds, rotationId }).catch((error: unknown) => notifyOfWaiting(run, rotationId, error));
      return new Attempting(kinds, ctx, run, called).carryOut(rotationId);
    },
  };
  const findDue: JobKind = {
    name: 'secret-rotations:find-due',
    description: 'Starts automatic rotations that are due, and continues what no job continues, every minute.',
    everySeconds: MINUTE_SECONDS,
    run: async (ctx, run) => {
      await enqueueForEach(run, rotate, (page) => listDueRotations(ctx, page));
      // What nobody continues is stuck: nothing else would ask for these jobs.
      await enqueueForEach(run, rotate, (page) => listRotationsWithoutJob(ctx, { ...page, kind: rotate.name }));
      await enqueueForEach(run, REVOKE_CREDENTIALS, (page) =>
        listConnectionsWithoutRevocationJob(ctx, { ...page, kind: REVOKE_CREDENTIALS.name }),
      );
    },
  };
  return [rotate, findDue];
}

/** What a standing job is about. */
interface Subject {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId?: string;
  readonly target?: string;
}

/** Has the standing jobs of all subjects of a list run. */
async function enqueueForEach(
  run: JobRun,
  kind: Pick<JobKind, 'name'>,
  list: (page: { readonly after: string; readonly most: number }) => Promise<readonly Subject[]>,
): Promise<void> {
  for (let after = NO_ID; ; ) {
    const subjects = await list({ after, most: AT_ONCE });
    if (subjects.length === 0) return;
    await run.inTransaction((tx) =>
      enqueueStanding(
        tx,
        kind,
        subjects.map(({ id, ...place }) => ({ key: id, subjectId: id, ...place })),
      ),
    );
    after = subjects.at(-1)?.id ?? after;
  }
}

/** Starts an automatic run if the rotation is still due and has no open attempt. */
async function beginIfDue(
  run: JobRun,
  { kinds, rotationId }: { readonly kinds: Kinds; readonly rotationId: string },
): Promise<void> {
  await run.inTransaction(async (tx) => {
    const rotation = await lockRotation(tx, rotationId);
    if (rotation === null || (rotation.status !== 'success' && rotation.status !== 'failed')) return;
    const now = await databaseNow(tx);
    const cause = causeOf(rotation, now);
    if (cause === null) return;
    const laterAt = cause.reason === 'schedule' ? await laterThanPlanned(tx, rotation, now) : null;
    if (laterAt !== null) {
      tx.em.assign(rotation, { nextRotationAt: laterAt });
      await flush(tx);
      return;
    }
    const kind = kinds.of(rotation.type);
    const attemptId = await beginAttempt(tx, { rotation, kind, isInBackground: true, ...cause });
    if (attemptId === null) return;
    await tx.auditTrail.recordChange(tx, {
      action: 'secret-rotation:begin',
      projectId: rotation.projectId,
      facts: { rotationId, attemptId, reason: cause.reason },
    });
  });
}

/** Notifies, once for a published credential, that a due rotation waits for the key of its project. @throws the given error */
async function notifyOfWaiting(run: JobRun, rotationId: string, error: unknown): Promise<never> {
  if (isKeyDisabled(error))
    await run.inTransaction(async (tx) => {
      const rotation = await lockRotation(tx, rotationId);
      if (rotation === null || causeOf(rotation, await databaseNow(tx)) === null) return;
      const { organizationId, projectId, name, generation } = rotation;
      await notifyOfFailedRotation(tx, {
        ...{ rotationId, organizationId, projectId, name, generation, trouble: 'waiting' },
        message: WAIT_MESSAGES.KEY_DISABLED,
      });
    });
  throw error;
}

/** Why a rotation runs now: it was requested, or it is due. Null: it does not. */
function causeOf(
  rotation: SecretRotation,
  now: Date,
): { readonly reason: AttemptReason; readonly actor: Pick<Actor, 'kind' | 'id'> } | null {
  const { requestedAt, requesterKind, requesterId, isAutoRotationEnabled, pauseReason, nextRotationAt } = rotation;
  if (requestedAt != null && requestedAt <= now && requesterKind != null && requesterId != null)
    return { reason: 'manual', actor: { kind: requesterKind, id: requesterId } };
  const isDue = isAutoRotationEnabled && pauseReason == null && nextRotationAt != null && nextRotationAt <= now;
  return isDue ? { reason: 'schedule', actor: SYSTEM } : null;
}

/** How long a due run has to wait: its window is closed, or another rotation has just run. Null: not at all. */
async function laterThanPlanned(tx: Transaction, rotation: SecretRotation, now: Date): Promise<Date | null> {
  const open = rotation.nextRotationAt == null ? now : mayStartAt(rotation, rotation.nextRotationAt, now);
  const near = (await listDistances(tx, rotation)).flatMap(({ at, minutes }) =>
    at === null || at > now ? [] : [at.getTime() + minutes * 60_000],
  );
  const at = Math.max(open.getTime(), ...near);
  return at > now.getTime() ? mayStartAt(rotation, new Date(at), new Date(at)) : null;
}

const HOUR_SECONDS = 3_600;
/** Finding an account takes two logins of half a minute each. */
const CALLS_SECONDS = 60;

/** The jobs that find out accounts of rotations that do not know theirs. A new rotation of such an account could not be refused. */
export function accountJobs(kinds: Kinds): readonly JobKind[] {
  const learn: JobKind = {
    name: 'secret-rotations:learn-account',
    description: 'Finds out which account a rotation owns.',
    concurrencyPerOrganization: 2,
    concurrencyPerTarget: 1,
    run: async (ctx, run) => {
      const rotation = await emOf(ctx).findOne(SecretRotation, { id: run.subjectId ?? NO_ID, accountDigest: null });
      if (rotation === null) return;
      const { id: rotationId, organizationId, projectId, parameters } = rotation;
      const kind = kinds.of(rotation.type);
      const connection = await openConnection(ctx, rotation.connectionId);
      const target = { rotationId, organizationId, projectId, parameters, connection, current: null, temporary: null };
      await run.reserve(CALLS_SECONDS);
      const account = await kind.accountOf?.(ctx, target).catch((error: unknown) => failureOf(error));
      // The schedule finds it again.
      if (account === undefined || account instanceof Error) return;
      await run.inTransaction(async (tx) => {
        if (!(await claimAccount(tx, { rotation, kind }, account))) await pause(tx, rotationId);
      });
    },
  };
  const findUnknown: JobKind = {
    name: 'secret-rotations:find-unknown-accounts',
    description: 'Finds rotations that do not know which account they own, every hour.',
    everySeconds: HOUR_SECONDS,
    run: async (ctx, run) => {
      const types = kinds.all.filter(({ accountOf }) => accountOf !== undefined).map(({ type }) => type);
      await enqueueForEach(run, learn, (page) => unknownAccounts(ctx, types, page));
    },
  };
  return [learn, findUnknown];
}

/** Pauses a rotation whose account another one owns. */
async function pause(tx: Transaction, rotationId: string): Promise<void> {
  const rotation = await lockRotation(tx, rotationId);
  if (rotation === null || rotation.pauseReason === ACCOUNT_ROTATED.code) return;
  tx.em.assign(rotation, { pauseReason: ACCOUNT_ROTATED.code, nextRotationAt: null });
  await flush(tx);
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:pause',
    projectId: rotation.projectId,
    facts: { rotationId, code: ACCOUNT_ROTATED.code },
  });
  await notify(tx, rotation, 'paused', ACCOUNT_ROTATED);
}

/** Rotations of these types that do not know which account they own, and whose connections work. */
const unknownAccounts = async (
  ctx: Context,
  types: RotationType[],
  { after, most }: { after: string; most: number },
) => {
  const found = await emOf(ctx).find(
    SecretRotation,
    {
      id: { $gt: after },
      accountDigest: null,
      type: { $in: types },
      status: { $in: ['success', 'failed', 'needs_reconciliation'] },
      connection: { checkState: 'working' },
    },
    { fields: ['organizationId', 'projectId', 'connection.target'], orderBy: { id: 'asc' }, limit: most },
  );
  return found.map(({ id, organizationId, projectId, connection }) => ({
    id,
    organizationId,
    projectId,
    target: connection.target,
  }));
};
