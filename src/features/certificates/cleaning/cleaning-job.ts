import { emOf } from '../../../kernel/database/database.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { deleteExpired } from '../certificates/certificate.queries.js';
import { CertificateCleaning } from './cleaning.entity.js';

const DAY_SECONDS = 86_400;
const PROJECTS_AT_ONCE = 500;
/** Batch size; the audit trail names each deleted certificate. */
const CERTIFICATES_AT_ONCE = 200;

/** Deletes certificates that expired longer ago than the setting of their project. Revocations stay in OCSP and revocation lists. */
export const CLEANING_JOB: JobKind = {
  name: 'certificates:delete-expired',
  description: 'Deletes expired certificates of projects with certificate cleaning, daily.',
  everySeconds: DAY_SECONDS,
  staysInside: true,
  run: async (ctx, run) => {
    for (let after = NO_ID; ; ) {
      const page = { orderBy: { projectId: 'asc' }, limit: PROJECTS_AT_ONCE } as const;
      const projects = await emOf(ctx).find(CertificateCleaning, { projectId: { $gt: after } }, page);
      for (const project of projects) while ((await deleteSome(run, project)) === CERTIFICATES_AT_ONCE);
      if (projects.length < PROJECTS_AT_ONCE) return;
      after = projects.at(-1)?.projectId ?? after;
    }
  },
};

/** @returns the number of deleted certificates */
const deleteSome = (
  run: JobRun,
  { projectId, organizationId }: { readonly projectId: string; readonly organizationId: string },
): Promise<number> =>
  run.inTransaction(async (tx) => {
    const deleted = await deleteExpired(tx, { projectId, most: CERTIFICATES_AT_ONCE });
    if (deleted.length === 0) return 0;
    await tx.auditTrail.recordChange(tx, {
      action: 'certificate:delete-expired',
      projectId,
      facts: { certificateIds: deleted.map(({ id }) => id) },
    });
    return deleted.length;
  }, run.contextOf(organizationId));
