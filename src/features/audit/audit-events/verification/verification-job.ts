import { raw as sql } from '@mikro-orm/core';
import type { TrailReport } from '../../../../kernel/audit/audit-verifier.js';
import type { Context } from '../../../../kernel/context.js';
import { emOf } from '../../../../kernel/database/database.js';
import { inSnapshot } from '../../../../kernel/database/on-connection.js';
import type { JobKind, JobRun } from '../../../../kernel/jobs/job-kind.js';
import { compareWithTrail } from '../../../secrets/public.js';
import { AuditVerification, type Verdict } from './verification.entity.js';
import { readAnchor } from './verification.rules.js';

/** Listed in a verdict. */
const MAX_VIOLATIONS = 200;
/** Few: requests of this node wait while a batch is checked. */
const ROWS_AT_ONCE = 500;
const PROGRESS_MS = 1_000;

/** Verifies the whole audit trail. Ten million rows take minutes. */
export const VERIFICATION_JOB: JobKind = {
  name: 'audit-events:verify-trail',
  description: 'Verifies the whole audit trail, when an admin of the installation asks for it.',
  staysInside: true,
  concurrency: 1,
  limitSeconds: 12 * 3_600,
  retry: { firstSeconds: 10, longestSeconds: 600, attempts: 5 },
  run: async (ctx, run) => {
    const { organizationId } = ctx;
    const id = run.subjectId ?? '';
    const verification = await emOf(ctx).findOne(AuditVerification, { id, organizationId }, { fields: ['anchors'] });
    if (verification === null) return;
    const verdict = await verify(ctx, run, { id, anchors: verification.anchors });
    const { checked, faultCount, differenceCount } = verdict;
    const counts = { checkedCount: String(checked), rowCount: String(checked) };
    await run.inTransaction(async (tx) => {
      const found = { verdict, ...counts, finishedAt: sql('now()') };
      await tx.em.nativeUpdate(AuditVerification, { id, organizationId }, found);
      await tx.auditTrail.recordChange(tx, {
        action: 'audit-trail-verification:finish',
        subjectId: id,
        facts: { verificationId: id, rows: checked, faults: faultCount, differences: differenceCount },
      });
    });
  },
};

function verify(
  ctx: Context,
  run: JobRun,
  { id, anchors }: { readonly id: string; readonly anchors: readonly string[] },
): Promise<Verdict> {
  const { organizationId } = ctx;
  let storedAt = Number.NEGATIVE_INFINITY;
  const onProgress = async (checked: number, total: number): Promise<void> => {
    run.signal.throwIfAborted();
    if (performance.now() - storedAt < PROGRESS_MS) return;
    storedAt = performance.now();
    const counts = { checkedCount: String(checked), rowCount: String(total) };
    await run.inTransaction((tx) => tx.em.nativeUpdate(AuditVerification, { id, organizationId }, counts));
  };
  const how = { anchors: anchors.map(readAnchor), maxFaults: MAX_VIOLATIONS, rowsAtOnce: ROWS_AT_ONCE, onProgress };
  return ctx.database.withConnection(
    (query, session) =>
      inSnapshot(session, async () =>
        verdictOf(
          await ctx.auditTrail.verify(query, ctx.auditChain, how),
          await compareWithTrail(query, MAX_VIOLATIONS),
        ),
      ),
    run.signal,
  );
}

type Comparison = Awaited<ReturnType<typeof compareWithTrail>>;

/** What was found, in the words of the program `verify-audit`. */
const verdictOf = (trail: TrailReport, secrets: Comparison): Verdict => ({
  checked: trail.rows,
  unsealed: trail.unsealed,
  expired: trail.expired,
  seals: trail.seals,
  anchor: trail.head === null ? null : `${trail.head.number}:${trail.head.mac.toString('hex')}`,
  faults: trail.faults.map(({ place, fault }) => ({ place, fault })),
  faultCount: trail.faultCount,
  equalSecrets: secrets.equal,
  unknownSecrets: secrets.unknown,
  differences: secrets.differences.map(({ name, difference }) => ({ place: name, fault: difference })),
  differenceCount: secrets.differenceCount,
});
