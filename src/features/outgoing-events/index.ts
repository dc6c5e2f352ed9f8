import './outgoing-events.errors.js';
import type { Feature } from '../../feature.js';
import type { TargetPolicy } from '../../kernel/outbound/http.js';
import { nodeInProject, type ProjectLinks, type ProjectReader, projectLinkOf } from '../projects/public.js';
import { deliveryJob } from './engine/delivery-job.js';
import { followJob, resumeFollowing } from './engine/follow-job.js';
import { DELIVERY_GAUGES } from './engine/gauges.js';
import { ChangeWebhook } from './webhooks/webhook.entity.js';
import { WebhookResolver } from './webhooks/webhook.resolver.js';
import { webhookRoutes } from './webhooks/webhook.routes.js';
import { rulesFor } from './webhooks/webhook.rules.js';
import { readOf, WebhookService } from './webhooks/webhook.service.js';
import { findWebhooks } from './webhooks/webhook.sql.js';
import { ChangeWebhookType, toWebhook } from './webhooks/webhook.type.js';
import { WEBHOOKS } from './webhooks/webhook-outlet.js';

/**
 * Events that are sent to systems outside: changes of projects to webhooks.
 *
 * @param deps `policy`: which targets may be called
 */
export function createOutgoingEvents(deps: {
  readonly projects: ProjectReader;
  readonly links: ProjectLinks;
  readonly policy: TargetPolicy;
}): Feature {
  const { projects, links, policy } = deps;
  const rules = rulesFor(policy);
  return {
    entities: [ChangeWebhook],
    resolvers: [
      new WebhookResolver(new WebhookService(projects, rules, policy)),
      new (projectLinkOf(ChangeWebhookType))(links),
    ],
    nodes: [
      nodeInProject(links, {
        type: 'ChangeWebhook',
        table: 'change_webhook',
        action: 'webhooks:read',
        find: async (ctx, params) => (await findWebhooks(ctx, params)).map(toWebhook),
        record: readOf,
      }),
    ],
    routes: [...webhookRoutes(rules)],
    jobs: [followJob([WEBHOOKS]), deliveryJob(WEBHOOKS, policy)],
    gauges: DELIVERY_GAUGES,
    upgrade: resumeFollowing,
    groups: [
      {
        name: 'change-webhooks',
        permission: { subject: 'webhooks', nouns: /^(ChangeWebhooks?|ChangeWebhookSecret)$/ },
        title: 'Change webhooks',
        description: 'Webhooks that get the changes of a project as they are made.',
        paths: /\/change-webhooks\b/,
        parameters: { webhookId: 'The change webhook.' },
      },
    ],
  };
}
