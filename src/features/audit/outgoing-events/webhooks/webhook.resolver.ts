import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../../kernel/paging.js';
import { DeliveryTestType } from '../engine/status.type.js';
import { ANYWHERE, ListWebhooks, OneWebhook } from './webhook.rules.js';
import type { IssuedWebhook, WebhookService } from './webhook.service.js';
import { ChangeWebhookConnection, ChangeWebhookType, toWebhook } from './webhook.type.js';

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
