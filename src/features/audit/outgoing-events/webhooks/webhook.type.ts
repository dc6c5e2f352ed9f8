import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import { type ChangeKind, ChangeKindEnum } from '../../change-feed/public.js';
import { DeliveryStatusType, statusOf } from '../engine/status.type.js';
import type { WebhookRow } from './webhook.queries.js';

/** What the API shows of a webhook. */
@ObjectType('ChangeWebhook', {
  implements: Node,
  description: 'A webhook that gets the changes of a project as they are made, without values.',
  simpleResolvers: true,
})
export class ChangeWebhookType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Name of the webhook, unique in the project.' })
  name!: string;

  @Field(() => String, {
    description:
      'Scheme, host and port of the URL, for example `https://hooks.example.com`. The rest may contain credentials and is not shown.',
  })
  origin!: string;

  @Field(() => [ChangeKindEnum], { description: 'Kinds of resources whose changes are sent. Empty: every kind.' })
  kinds!: readonly ChangeKind[];

  @Field(() => String, {
    nullable: true,
    description: 'Slug of the environment whose changes are sent. Null: every environment.',
  })
  environment!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Path of the folder whose changes are sent, or a pattern of paths. Null: every folder.',
  })
  secretPath!: string | null;

  @Field(() => Boolean, { description: 'Whether the webhook sends events.' })
  enabled!: boolean;

  @Field(() => DeliveryStatusType, { description: 'How far it has received its events.' })
  delivery!: DeliveryStatusType;

  @Field(() => DateTime, { description: 'When the webhook was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the webhook was last changed.' })
  updatedAt!: Date;
}

export const ChangeWebhookConnection = countedConnectionOf(ChangeWebhookType, 'ChangeWebhook', 'name');

/** A row as the API shows it. */
export const toWebhook = (row: WebhookRow): ChangeWebhookType => ({
  ...row,
  enabled: row.isEnabled,
  delivery: statusOf(row),
});
