import { sql } from 'kysely';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { ChangeKind } from '../../change-feed/public.js';
import { CLOCK, lagOf } from '../engine/target.sql.js';
import { ChangeWebhookSchema } from './webhook.entity.js';

const webhooks = tablesOf<typeof ChangeWebhookSchema>()
  .selectFrom('change_webhook as x')
  .select(columnsIn('x', ChangeWebhookSchema, 'kinds'))
  .select([sql<readonly ChangeKind[]>`x.kinds`.as('kinds'), ...CLOCK]);
const shown = webhooks.crossJoinLateral(lagOf('change_webhook')).select(['lagRecords', 'lagSeconds']);

/** Webhooks by ID, in any project, for their jobs. */
export const findWebhookTargets = prepared(({ ids }: { ids: readonly string[] }) =>
  webhooks.where('x.id', '=', anyOf(ids)),
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
