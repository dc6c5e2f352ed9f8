import { raw as sql } from '@mikro-orm/core';
import type { Context } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { refuseOtherType } from '../shared-checks.js';
import { CertificateCleaning } from './cleaning.entity.js';
import { ProjectOfCleaning, UpdateCleaning } from './cleaning.rules.js';
import type { CleaningType } from './cleaning.type.js';

/** Deletion of expired certificates of a project. Every method throws PROJECT_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE. */
export class CleaningService {
  constructor(private readonly projects: ProjectReader) {}

  /** Returns the setting of a project. */
  async get(ctx: Context, raw: unknown): Promise<CleaningType> {
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
  update(ctx: Context, raw: unknown): Promise<CleaningType> {
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
