import { bodyOf, routesAt } from '../../../../rest/route.js';
import type { WebhookRules } from './webhook.rules.js';

const DELIVERY = `delivery { state lagRecords lagSeconds failures lastSuccessAt lastFailureAt lastFailure lastStatus nextAttemptAt rewoundAt }`;
const WEBHOOK = `id projectId name origin kinds environment secretPath enabled ${DELIVERY} createdAt updatedAt`;
const NOT_FOUND = ['CHANGE_WEBHOOK_NOT_FOUND'] as const;

/** Change webhooks of projects. */
export function webhookRoutes(rules: WebhookRules) {
  const webhooks = routesAt('/api/v1/projects/{projectId}/change-webhooks', {
    select: WEBHOOK,
    errors: ['PROJECT_NOT_FOUND'],
  });
  const issued = { select: `changeWebhook { ${WEBHOOK} } signingSecret`, sensitive: true } as const;
  return [
    webhooks.post('', 'Create a change webhook', {
      field: 'createChangeWebhook',
      ...issued,
      body: bodyOf(rules.create, 'projectId'),
      errors: ['CHANGE_WEBHOOK_NAME_TAKEN', 'CHANGE_WEBHOOKS_FULL', 'KEY_DISABLED'],
      example: {
        ...{ name: 'deployments', url: 'https://hooks.example.com/strongroom' },
        ...{ environment: 'prod', secretPath: '/payments/**', kinds: ['secret'] },
      },
    }),
    webhooks.get('', 'List the change webhooks of a project', { field: 'changeWebhooks' }),
    webhooks.get('/{webhookId}', 'Get a change webhook', { field: 'changeWebhook', errors: NOT_FOUND }),
    webhooks.patch('/{webhookId}', 'Update a change webhook', {
      field: 'updateChangeWebhook',
      body: bodyOf(rules.update, 'projectId', 'id'),
      errors: [...NOT_FOUND, 'CHANGE_WEBHOOK_NAME_TAKEN', 'KEY_DISABLED'],
      example: { kinds: ['secret', 'folder'], enabled: false },
    }),
    webhooks.delete('/{webhookId}', 'Delete a change webhook', { field: 'deleteChangeWebhook', errors: NOT_FOUND }),
    webhooks.post('/{webhookId}/rotate-secret', 'Replace the signing secret of a change webhook', {
      field: 'rotateChangeWebhookSecret',
      ...issued,
      errors: [...NOT_FOUND, 'KEY_DISABLED'],
    }),
    webhooks.post('/{webhookId}/test', 'Send a test event to a change webhook', {
      field: 'testChangeWebhook',
      select: 'isAccepted errorCode status',
      errors: NOT_FOUND,
    }),
  ];
}
