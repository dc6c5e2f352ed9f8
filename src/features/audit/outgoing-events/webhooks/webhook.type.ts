import { ID } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../../kernel/graphql/page.js';
import { ChangeKindEnum } from '../../change-feed/public.js';
import { DeliveryStatusType, statusOf } from '../engine/status.type.js';
import type { WebhookRow } from './webhook.queries.js';

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
    enabled: [Boolean, 'Whether the webhook sends events.'],
    delivery: [DeliveryStatusType, 'How far it has received its events.'],
    createdAt: [DateTime, 'When the webhook was created.'],
    updatedAt: [DateTime, 'When the webhook was last changed.'],
  },
  { implements: Node },
);
export type ChangeWebhookType = InstanceType<typeof ChangeWebhookType>;

export const ChangeWebhookConnection = countedConnectionOf(ChangeWebhookType, 'ChangeWebhook', 'name');

/** A row as the API shows it. */
export const toWebhook = (row: WebhookRow): ChangeWebhookType => ({
  ...row,
  enabled: row.isEnabled,
  delivery: statusOf(row),
});
