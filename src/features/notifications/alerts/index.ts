import './alerts.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeInProject, type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { CertificateAlert, CertificateAlertChannel } from './alert.entity.js';
import { findAlertViews } from './alert.queries.js';
import { AlertResolver, AlertType, ProjectAlertsResolver, toAlertType } from './alert.resolver.js';
import { alertRoutes } from './alert.routes.js';
import { rulesFor } from './alert.rules.js';
import { AlertService, auditOfRead } from './alert.service.js';

/**
 * Alerts on certificate events of projects.
 *
 * @param deps `allowPrivateTargets`: webhooks may call this machine and private networks
 */
export function createAlerts(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly allowPrivateTargets: boolean;
}): Feature {
  const rules = rulesFor(deps);
  const alerts = new AlertService(deps.projects, rules);
  return {
    entities: [CertificateAlert, CertificateAlertChannel],
    resolvers: [
      new AlertResolver(alerts),
      new ProjectAlertsResolver(alerts),
      projectRelationOf(AlertType, deps.relations),
    ],
    nodes: [
      nodeInProject(deps.relations, {
        type: 'CertificateAlert',
        table: 'certificate_alert',
        action: 'pki-alerts:read',
        find: async (ctx, params) => (await findAlertViews(ctx, params)).map(toAlertType),
        record: auditOfRead,
      }),
    ],
    routes: alertRoutes(rules),
    groups: [
      {
        name: 'certificate-alerts',
        permission: { subject: 'pki-alerts', nouns: /^(CertificateAlerts?)$/ },
        title: 'Certificate alerts',
        description: 'Who is notified of events of certificates, and how.',
        paths: /^\/api\/v1\/cert-manager\/alerts\b/,
        parameters: { alertId: 'The certificate alert.', messageId: 'What it has sent or has to send.' },
      },
    ],
  };
}
