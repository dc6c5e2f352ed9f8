import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context } from '../../../../kernel/context.js';
import { batched, batchOfLists, listKey, type Together, together } from '../../../../kernel/database/batched.js';
import type { CertificateType } from '../../../certificates/public.js';
import type { ProjectReader } from '../../../projects/public.js';
import { type AlertView, listAlertViews } from '../../alerts/public.js';
import { matchingCertificates } from '../verdicts.js';

/** Alerts whose filters match a certificate. */
export class CertificateAlerts {
  constructor(private readonly projects: ProjectReader) {}

  /** Alerts that match a certificate nested in a response, newest first; statements are shared. @throws PERMISSION_DENIED */
  async of(ctx: Context, certificate: CertificateType): Promise<readonly AlertView[]> {
    const { projectId } = certificate;
    authorize(await this.projects.loadOwning(ctx, projectId, 'CERTIFICATE_NOT_FOUND'), 'pki-alerts:read');
    const alerts = (await batched(ctx, alertsByProject, listKey(projectId, {}))) ?? [];
    return together(ctx, chosen, { certificate, alerts });
  }
}

const alertsByProject = batchOfLists<AlertView, object>(
  (ctx, projectIds) => listAlertViews(ctx, { projectIds }),
  ({ projectId }) => projectId,
);

interface Choice {
  readonly certificate: CertificateType;
  readonly alerts: readonly AlertView[];
}

/** Batched over all certificates of a response, so that the audit trail gets one record per project. */
const chosen: Together<Choice, readonly AlertView[]> = async (ctx, choices) => {
  const lists: (readonly AlertView[])[] = [];
  for (const { certificate, alerts } of choices) {
    const looked = { ...certificate, profileName: certificate.profileSlug };
    const list: AlertView[] = [];
    for (const alert of alerts) if ((await matchingCertificates(alert.filters, [looked])).length > 0) list.push(alert);
    lists.push(list);
  }
  const shown = new Map(lists.flat().map((alert) => [alert.id, alert]));
  for (const [projectId, alerts] of Map.groupBy(shown.values(), (alert) => alert.projectId))
    await ctx.auditTrail.recordRead(ctx, {
      action: 'certificate-alert:list',
      projectId,
      facts: { count: alerts.length },
    });
  return lists;
};
