import type { Format, Outlet } from '../engine/target.js';
import { ChangeWebhook } from './webhook.entity.js';
import { findWebhookTargets, type WebhookTarget } from './webhook.queries.js';
import { nextEvents } from './webhook-events.js';

/** The form of requests to change webhooks. */
export const CLOUD_EVENTS: Format = {
  contentType: 'application/cloudevents-batch+json; charset=utf-8',
  maxResponseBytes: null,
  rejected: () => 0,
};

/** How change webhooks get their events. */
export const WEBHOOKS: Outlet<WebhookTarget> = {
  job: {
    name: 'change-webhooks:deliver',
    description: 'Sends changes of a project to a change webhook.',
  },
  table: 'change_webhook',
  entity: ChangeWebhook,
  formatOf: () => CLOUD_EVENTS,
  find: findWebhookTargets,
  next: nextEvents,
  recordRewind: (tx, { id, projectId }) =>
    tx.auditTrail.recordChange(tx, { action: 'change-webhook:rewind', projectId, facts: { changeWebhookId: id } }),
};
