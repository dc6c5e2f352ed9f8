import './alert-deliveries.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeInProject, type ProjectReader, type ProjectRelations } from '../../projects/public.js';
import { NotificationDelivery, NotificationMessage, sendJob } from '../deliveries/public.js';
import type { Notifier } from '../sending/public.js';
import { findMessages } from './alert-delivery.queries.js';
import { AlertTestService } from './alert-test.service.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';
import { CertificateAlertsResolver, DecisionResolver } from './decision.resolver.js';
import { CertificateAlerts, DecisionService } from './decision.service.js';
import { DUE_JOBS } from './due.service.js';
import { AlertMatchesResolver, MatchResolver } from './match.resolver.js';
import { matchRoutes } from './match.routes.js';
import { MatchService } from './match.service.js';
import { AlertMessageResolver, AlertMessagesResolver, AlertTestResolver } from './message.resolver.js';
import { messageRoutes } from './message.routes.js';
import { auditOfRead, MessageService } from './message.service.js';

/**
 * Decides what certificate alerts notify of, and delivers it.
 *
 * @param deps `notifier`: makes one delivery attempt at a target
 */
export function createAlertDeliveries(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly notifier: Notifier;
}): Feature {
  const matches = new MatchService(deps.projects);
  const messages = new MessageService(deps.projects);
  return {
    entities: [NotificationMessage, NotificationDelivery],
    resolvers: [
      new MatchResolver(matches, deps.relations),
      new AlertMatchesResolver(matches),
      new DecisionResolver(new DecisionService(deps.projects)),
      new CertificateAlertsResolver(new CertificateAlerts(deps.projects)),
      new AlertMessageResolver(messages, deps.relations),
      new AlertMessagesResolver(messages),
      new AlertTestResolver(new AlertTestService(deps.projects, deps.notifier)),
    ],
    nodes: [
      nodeInProject(deps.relations, {
        type: 'AlertMessage',
        table: 'notification_message',
        only: `n.source = '${CERTIFICATE_SOURCE.name}'`,
        action: 'pki-alerts:read',
        find: (ctx, { ids }) => findMessages(ctx, { ids }),
        record: (row) => auditOfRead(row as Parameters<typeof auditOfRead>[0]),
      }),
    ],
    routes: [...matchRoutes, ...messageRoutes],
    jobs: [...DUE_JOBS, sendJob(CERTIFICATE_SOURCE, deps.notifier)],
  };
}
