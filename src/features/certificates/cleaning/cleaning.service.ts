import { LockMode, raw as sql } from '@mikro-orm/core';
import type { Context } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { Certificate } from '../certificates/certificate.entity.js';
import { refuseOtherType } from '../shared-checks.js';
import { CertificateCleaning } from './cleaning.entity.js';
import { ProjectOfCleaning, UpdateCleaning } from './cleaning.rules.js';

/** The setting of a project. */
interface Cleaning {
  readonly daysAfterExpiry: number | null;
}

/** Deletion of expired certificates of a project. Every method throws PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE. */
export class CleaningService {
  constructor(private readonly projects: ProjectReader) {}

  /** Returns the setting of a project. */
  async get(ctx: Context, raw: unknown): Promise<Cleaning> {
    const project = await this.projects.authorized(ctx, parse(ProjectOfCleaning, raw).projectId, 'certificates:read');
    const found = await emOf(ctx).findOne(CertificateCleaning, { projectId: project.projectId });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'certificate-cleaning:get',
      projectId: project.projectId,
      facts: {},
    });
    return { daysAfterExpiry: found?.daysAfterExpiry ?? null };
  }

  /** Updates the setting. @throws VALIDATION_FAILED (WRONG_PROJECT_TYPE) if the project is of another type */
  update(ctx: Context, raw: unknown): Promise<Cleaning> {
    const { projectId: wanted, daysAfterExpiry } = parse(UpdateCleaning, raw);
    return inTransaction(ctx, async (tx) => {
      const project = await this.projects.authorized(tx, wanted, 'certificates:delete');
      refuseOtherType(project);
      const { projectId, organizationId } = project;
      const cleanings = tx.em.createQueryBuilder(CertificateCleaning);
      await (daysAfterExpiry === null
        ? cleanings.delete({ projectId }).execute()
        : cleanings
            .insert({ projectId, organizationId, daysAfterExpiry })
            .onConflict('projectId')
            .merge({ daysAfterExpiry, updatedAt: sql('now()') })
            .execute());
      await tx.auditTrail.recordChange(tx, {
        action: 'certificate-cleaning:update',
        projectId,
        subjectId: projectId,
        facts: { daysAfterExpiry },
      });
      return { daysAfterExpiry };
    });
  }
}

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

/** Deletes the certificates that expired first, by the setting as it is now. @returns how many */
const deleteSome = (
  run: JobRun,
  { projectId, organizationId }: { readonly projectId: string; readonly organizationId: string },
): Promise<number> =>
  run.inTransaction(async (tx) => {
    const setting = await tx.em.findOne(CertificateCleaning, { projectId });
    if (setting === null) return 0;
    const isOld = { $lt: sql('now() - make_interval(days => ?)', [setting.daysAfterExpiry]) };
    const first = { orderBy: { notAfter: 'asc', id: 'asc' }, limit: CERTIFICATES_AT_ONCE } as const;
    const locked = { fields: ['id'], lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const expired = await tx.em.find(Certificate, { projectId, notAfter: isOld }, { ...first, ...locked });
    if (expired.length === 0) return 0;
    const certificateIds = expired.map(({ id }) => id);
    await tx.em.nativeDelete(Certificate, { id: { $in: certificateIds } });
    await tx.auditTrail.recordChange(tx, {
      action: 'certificate:delete-expired',
      projectId,
      facts: { certificateIds },
    });
    return expired.length;
  }, run.contextOf(organizationId));
