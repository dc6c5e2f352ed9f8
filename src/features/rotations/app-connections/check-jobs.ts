import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import { type ConnectionRow, findConnections, forgetUnusedTargets } from './connection.queries.js';
import { takeDueChecks } from './connection.sql.js';
import { type CheckParts, checkStored, store } from './connection-checks.js';
import { kindOf } from './kinds.js';
import { CalledTarget } from './unresponsive-targets.js';

const AT_ONCE = 500;
/** Time limit of a check, including what surrounds the call. */
const LIMIT_SECONDS = 45;

/** Whether another check could lock the account. New credentials or a manual check reset this. */
const mayLock = ({ app, checkState, checkCode }: ConnectionRow): boolean =>
  kindOf(app).locksAccounts === true && checkState === 'failing' && checkCode === 'CREDENTIALS_REJECTED';

/** The jobs that check the credentials of connections. */
export function checkJobs(parts: CheckParts): readonly JobKind[] {
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
      const result = await checkStored(ctx, row, parts.policy);
      await run.inTransaction(async (tx) => {
        if ((await store(tx, row, result, parts)) !== 'changed') return;
        // An unchanged state is not recorded: it would add one audit record per check.
        await tx.auditTrail.recordChange(tx, {
          action: 'app-connection:check',
          projectId: row.projectId,
          facts: { connectionId: row.id, app: row.app, checkCode: result.code },
        });
      });
      if (result.failure !== undefined) await called.keep({ failure: result.failure, since });
      return undefined;
    },
  };
  const findDue: JobKind = {
    name: 'app-connections:find-due',
    description: 'Queues a check of each connection about once an hour.',
    everySeconds: 300,
    run: async (_, run) => {
      await run.inTransaction((tx) => forgetUnusedTargets(tx, {}));
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
