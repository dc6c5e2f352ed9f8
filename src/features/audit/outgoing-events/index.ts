import './outgoing-events.errors.js';
import type { Feature } from '../../../feature.js';
import { mapFound } from '../../../kernel/database/batched.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { organizationRelationOf } from '../../identity/organizations/public.js';
import { nodeInProject, type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { DELIVERY_GAUGES, deliveryJob, dispatchJob, resumeDispatch } from './engine/delivery-job.js';
import { AuditSink } from './sinks/sink.entity.js';
import { AuditSinkType, SinkResolver, sinkRoutes, toSink } from './sinks/sink.resolver.js';
import { rulesFor as sinkRulesFor } from './sinks/sink.rules.js';
import { auditOfRead as readOfSink, SinkService } from './sinks/sink.service.js';
import { SINKS } from './sinks/sink-outlet.js';
import { ChangeWebhook } from './webhooks/webhook.entity.js';
import { findWebhooks } from './webhooks/webhook.queries.js';
import { ChangeWebhookType, toWebhook, WebhookResolver, webhookRoutes } from './webhooks/webhook.resolver.js';
import { rulesFor } from './webhooks/webhook.rules.js';
import { auditOfRead, WebhookService } from './webhooks/webhook.service.js';
import { WEBHOOKS } from './webhooks/webhook-outlet.js';

/**
 * Events that are sent to systems outside: changes of projects to webhooks, and audit trails to sinks.
 *
 * @param deps `policy`: which targets may be called
 */
export function createOutgoingEvents(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly policy: TargetPolicy;
}): Feature {
  const { projects, relations, policy } = deps;
  const rules = rulesFor(policy);
  const sinkRules = sinkRulesFor(policy);
  const sinks = new SinkService(sinkRules, policy);
  return {
    entities: [ChangeWebhook, AuditSink],
    resolvers: [
      new WebhookResolver(new WebhookService(projects, rules, policy)),
      projectRelationOf(ChangeWebhookType, relations),
      new SinkResolver(sinks),
      organizationRelationOf(AuditSinkType),
    ],
    nodes: [
      nodeInProject(relations, {
        type: 'ChangeWebhook',
        table: 'change_webhook',
        action: 'webhooks:read',
        find: async (ctx, params) => (await findWebhooks(ctx, params)).map(toWebhook),
        record: auditOfRead,
      }),
      nodeKind({
        type: 'AuditSink',
        table: 'audit_sink',
        reach: 'n.organization_id = $2',
        load: async (ctx, ids) => mapFound(await sinks.byIds(ctx, ids), toSink),
        record: readOfSink,
      }),
    ],
    routes: [...webhookRoutes(rules), ...sinkRoutes(sinkRules)],
    jobs: [dispatchJob([WEBHOOKS, SINKS]), deliveryJob(WEBHOOKS, policy), deliveryJob(SINKS, policy)],
    gauges: [DELIVERY_GAUGES],
    prepare: resumeDispatch,
    groups: [
      {
        name: 'change-webhooks',
        permission: { subject: 'webhooks', nouns: /^(ChangeWebhooks?|ChangeWebhookSecret)$/ },
        title: 'Change webhooks',
        description: 'Webhooks that get the changes of a project as they are made.',
        paths: /\/change-webhooks\b/,
        parameters: { webhookId: 'The change webhook.' },
      },
      {
        name: 'audit-sinks',
        permission: { subject: 'audit-logs', nouns: /^AuditSinks?$/ },
        title: 'Audit sinks',
        description: 'Systems that get the audit trail of your organization.',
        paths: /\/organization\/audit-sinks\b/,
        parameters: { sinkId: 'The audit sink.' },
      },
    ],
  };
}
