import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { ChangeKind } from '../../change-feed/public.js';
import { behindOf, SHOWN_COLUMNS, TARGET_COLUMNS } from '../engine/target.queries.js';
import type { ChangeWebhookSchema } from './webhook.entity.js';

const webhooks = tablesOf<typeof ChangeWebhookSchema>()
  .selectFrom('change_webhook as x')
  .select([
    'x.project_id as projectId',
    sql<readonly ChangeKind[]>`x.kinds`.as('kinds'),
    'x.environment',
    'x.secret_path as secretPath',
  ]);
const shown = webhooks.crossJoinLateral(behindOf('change_webhook')).select(SHOWN_COLUMNS);

/** Webhooks by ID, in any project, for their jobs. */
export const findWebhookTargets = prepared(({ ids }: { ids: readonly string[] }) =>
  webhooks.select(TARGET_COLUMNS).where('x.id', '=', anyOf(ids)),
);

/** Webhooks by ID, in any project. */
export const findWebhooks = prepared(({ ids }: { ids: readonly string[] }) => shown.where('x.id', '=', anyOf(ids)));

/** Webhooks of a project, by name. */
export const listWebhooks = prepared(({ projectId }: { projectId: string }) =>
  shown.where('x.project_id', '=', projectId).orderBy(sql`x.name collate "C"`).orderBy('x.id'),
);

/** A webhook as its job reads it. */
export type WebhookTarget = Awaited<ReturnType<typeof findWebhookTargets>>[number];

/** A webhook as the API shows it. */
export type WebhookRow = Awaited<ReturnType<typeof findWebhooks>>[number];
