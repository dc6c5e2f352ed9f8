import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import { type CountedConnectionOf, counted } from '../../../../kernel/paging.js';
import { bodyOf, inWords, routesAt } from '../../../../rest/route.js';
import { ChangeKindEnum } from '../../change-feed/public.js';
import { DeliveryStatusType, DeliveryTestType, statusOf } from '../engine/status.type.js';
import type { WebhookRow } from './webhook.queries.js';
import { ANYWHERE, ListWebhooks, OneWebhook, type WebhookRules } from './webhook.rules.js';
import type { IssuedWebhook, WebhookService } from './webhook.service.js';

/** What the API shows of a webhook. */
export const ChangeWebhookType = objectType(
  'ChangeWebhook',
  'A webhook that gets the changes of a project as they are made, without values.',
  {
    projectId: [ID, 'ID of the project.'],
    name: [String, 'Name of the webhook, unique in the project.'],
    origin: [
      String,
      'Scheme, host and port of the URL, for example `https://hooks.example.com`. The rest may contain credentials and is not shown.',
    ],
    kinds: [[ChangeKindEnum], 'Kinds of resources whose changes are sent. Empty: every kind.'],
    environment: [orNull(String), 'Slug of the environment whose changes are sent. Null: every environment.'],
    secretPath: [
      orNull(String),
      'Path of the folder whose changes are sent, or a pattern of paths. Null: every folder.',
    ],
    isEnabled: [Boolean, 'Whether the webhook sends events.'],
    delivery: [DeliveryStatusType, 'How far it has received its events.'],
    createdAt: [DateTime, 'When the webhook was created.'],
    updatedAt: [DateTime, 'When the webhook was last changed.'],
  },
  { implements: Node },
);
export type ChangeWebhookType = InstanceType<typeof ChangeWebhookType>;

const ChangeWebhookConnection = connectionOf(ChangeWebhookType, 'ChangeWebhook', 'name');

/** A row as the API shows it. */
export const toWebhook = (row: WebhookRow): ChangeWebhookType => ({
  ...row,
  delivery: statusOf(row),
});

const SECRET = 'Secret that signs the requests. It is not shown again.';

const CreateChangeWebhookPayload = objectType('CreateChangeWebhookPayload', 'Result of `createChangeWebhook`.', {
  changeWebhook: [ChangeWebhookType, 'The created webhook.'],
  signingSecret: [String, SECRET],
});
type CreateChangeWebhookPayload = InstanceType<typeof CreateChangeWebhookPayload>;

const RotateChangeWebhookSecretPayload = objectType(
  'RotateChangeWebhookSecretPayload',
  'Result of `rotateChangeWebhookSecret`.',
  {
    changeWebhook: [ChangeWebhookType, 'The webhook.'],
    signingSecret: [String, SECRET],
  },
);
type RotateChangeWebhookSecretPayload = InstanceType<typeof RotateChangeWebhookSecretPayload>;

const toIssued = ({ webhook, signingSecret }: IssuedWebhook) => ({ changeWebhook: toWebhook(webhook), signingSecret });

@Resolver(() => ChangeWebhookType)
export class WebhookResolver {
  constructor(private readonly service: WebhookService) {}

  @query(ChangeWebhookConnection, ListWebhooks, 'Lists the change webhooks of a project, by name.')
  async changeWebhooks(ctx: Context, args: object): Promise<CountedConnectionOf<ChangeWebhookType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page.show(toWebhook), totalCount);
  }

  @query(ChangeWebhookType, OneWebhook, 'Returns a change webhook by its ID.')
  async changeWebhook(ctx: Context, args: object): Promise<ChangeWebhookType> {
    return toWebhook(await this.service.get(ctx, args));
  }

  @mutation(
    ANYWHERE.create,
    CreateChangeWebhookPayload,
    'Creates a webhook that gets the changes of a project from now on. Requires `create` on `webhooks` and, because it gets every change that its filters select, `read` on `audit-logs`.',
  )
  async createChangeWebhook(ctx: Context, input: object): Promise<CreateChangeWebhookPayload> {
    return toIssued(await this.service.create(ctx, input));
  }

  @mutation(
    ANYWHERE.update,
    { changeWebhook: [ChangeWebhookType, 'The updated webhook.'] },
    'Updates, enables or disables a change webhook. Requires `edit` on `webhooks` and `read` on `audit-logs`.',
  )
  async updateChangeWebhook(ctx: Context, input: object): Promise<{ changeWebhook: ChangeWebhookType }> {
    return { changeWebhook: toWebhook(await this.service.update(ctx, input)) };
  }

  @mutation(
    OneWebhook,
    RotateChangeWebhookSecretPayload,
    'Replaces the signing secret of a change webhook. Requires `edit` on `webhooks` and `read` on `audit-logs`.',
  )
  async rotateChangeWebhookSecret(ctx: Context, input: object): Promise<RotateChangeWebhookSecretPayload> {
    return toIssued(await this.service.rotateSecret(ctx, input));
  }

  @mutation(
    OneWebhook,
    { changeWebhook: [ChangeWebhookType, 'The deleted webhook.'] },
    'Deletes a change webhook. Events that it has not received are not sent.',
  )
  async deleteChangeWebhook(ctx: Context, input: object): Promise<{ changeWebhook: ChangeWebhookType }> {
    return { changeWebhook: toWebhook(await this.service.delete(ctx, input)) };
  }

  @mutation(
    OneWebhook,
    { result: [DeliveryTestType, 'The result.'] },
    'Sends a test event to a change webhook once and waits up to 10 seconds for the response. Requires `edit` on `webhooks`.',
  )
  async testChangeWebhook(ctx: Context, input: object): Promise<{ result: DeliveryTestType }> {
    return { result: await this.service.test(ctx, input) };
  }
}

/** Fields that REST calls otherwise. */
const WORDS = { enabled: 'isEnabled' } as const;
const WEBHOOK = 'id projectId name origin kinds environment secretPath enabled: isEnabled *';
const ISSUED = `changeWebhook { ${WEBHOOK} } signingSecret`;
const NOT_FOUND = ['CHANGE_WEBHOOK_NOT_FOUND'] as const;

/** Change webhooks of projects. */
export function webhookRoutes(rules: WebhookRules) {
  const webhooks = routesAt('/api/v1/projects/{projectId}/change-webhooks', {
    select: WEBHOOK,
    words: WORDS,
    errors: ['PROJECT_NOT_FOUND'],
  });
  return [
    webhooks.post('', 'Create a change webhook', {
      field: 'createChangeWebhook',
      sensitive: true,
      body: inWords(bodyOf(rules.create, 'projectId'), WORDS),
      select: ISSUED,
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
      body: inWords(bodyOf(rules.update, 'projectId', 'id'), WORDS),
      errors: [...NOT_FOUND, 'CHANGE_WEBHOOK_NAME_TAKEN', 'KEY_DISABLED'],
      example: { kinds: ['secret', 'folder'], enabled: false },
    }),
    webhooks.delete('/{webhookId}', 'Delete a change webhook', { field: 'deleteChangeWebhook', errors: NOT_FOUND }),
    webhooks.post('/{webhookId}/rotate-secret', 'Replace the signing secret of a change webhook', {
      field: 'rotateChangeWebhookSecret',
      select: ISSUED,
      sensitive: true,
      errors: [...NOT_FOUND, 'KEY_DISABLED'],
    }),
    webhooks.post('/{webhookId}/test', 'Send a test event to a change webhook', {
      field: 'testChangeWebhook',
      select: '*',
      errors: NOT_FOUND,
    }),
  ];
}
