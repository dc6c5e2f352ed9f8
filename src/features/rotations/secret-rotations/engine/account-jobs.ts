import type { Context, Transaction } from '../../../../kernel/context.js';
import { emOf } from '../../../../kernel/database/database.js';
import { flush } from '../../../../kernel/database/in-transaction.js';
import { NO_ID } from '../../../../kernel/ids.js';
import type { JobKind } from '../../../../kernel/jobs/job-kind.js';
import { openConnection } from '../../app-connections/public.js';
import type { Kinds, RotationType } from '../kinds/kinds.js';
import { failureOf } from '../store/failure.js';
import { lockRotation } from '../store/lock.js';
import { SecretRotation } from '../store/rotation.entity.js';
import { claimAccount, OWNED } from './accounts.js';
import { notify } from './outcomes.js';
import { askForEach } from './rotate-job.js';

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
      await askForEach(run, learn, (page) => unknownAccounts(ctx, types, page));
    },
  };
  return [learn, findUnknown];
}

/** Pauses a rotation whose account another one owns. */
async function pause(tx: Transaction, rotationId: string): Promise<void> {
  const rotation = await lockRotation(tx, rotationId);
  if (rotation === null || rotation.pauseReason === OWNED.code) return;
  tx.em.assign(rotation, { pauseReason: OWNED.code, nextRotationAt: null });
  await flush(tx);
  await tx.auditTrail.recordChange(tx, {
    action: 'secret-rotation:pause',
    projectId: rotation.projectId,
    facts: { rotationId, code: OWNED.code },
  });
  await notify(tx, rotation, 'paused', OWNED);
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
