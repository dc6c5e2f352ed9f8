import './alert-deliveries.errors.js';
import type { Feature } from '../../feature.js';
import { NotificationDelivery, NotificationMessage, sendJob } from '../deliveries/public.js';
import type { Notifier } from '../notifications/public.js';
import { nodeInProject, type ProjectLinks, type ProjectReader } from '../projects/public.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';
import { DUE_JOBS } from './due.service.js';
import { HistoryService, readOf } from './history.service.js';
import { AlertMessageResolver, AlertMessagesResolver } from './message.resolver.js';
import { messageRoutes } from './message.routes.js';
import { findMessages } from './message.sql.js';
import { AlertTestResolver } from './trial.resolver.js';
import { TrialService } from './trial.service.js';

/**
 * What alerts about certificates notify of, and how it is sent.
 *
 * @param deps `notifier`: makes one attempt at a target
 */
export function createAlertDeliveries(deps: {
  readonly projects: ProjectReader;
  readonly links: ProjectLinks;
  readonly notifier: Notifier;
}): Feature {
  const history = new HistoryService(deps.projects);
  return {
    entities: [NotificationMessage, NotificationDelivery],
    resolvers: [
      new AlertMessageResolver(history, deps.links),
      new AlertMessagesResolver(history),
      new AlertTestResolver(new TrialService(deps.projects, deps.notifier)),
    ],
    nodes: [
      nodeInProject(deps.links, {
        type: 'AlertMessage',
        table: 'notification_message',
        action: 'pki-alerts:read',
        find: (ctx, { ids }) => findMessages(ctx, { ids }),
        record: (row) => readOf(row as Parameters<typeof readOf>[0]),
      }),
    ],
    routes: messageRoutes,
    jobs: [...DUE_JOBS, sendJob(CERTIFICATE_SOURCE, deps.notifier)],
  };
}
