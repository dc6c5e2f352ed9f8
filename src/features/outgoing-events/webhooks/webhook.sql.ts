import { sqlStatement, t } from '../../../kernel/database/statement.js';
import type { ChangeKind } from '../../change-feed/public.js';
import {
  advancing,
  behindOf,
  failing,
  findingMissed,
  listingBehind,
  RECORDS_OF_WEBHOOK as RECORDS,
  rewinding,
  SHOWN_COLUMNS,
  SHOWN_ROW,
  TARGET_COLUMNS,
  TARGET_ROW,
} from '../engine/target-progress.sql.js';

const TABLE = 'change_webhook';

const COLUMNS = `${TARGET_COLUMNS}, x.project_id as "projectId", x.kinds, x.environment, x.secret_path as "secretPath"`;
const ROW = {
  ...TARGET_ROW,
  projectId: t.uuid,
  kinds: t.array(t.oneOf<ChangeKind>()),
  environment: t.nullable(t.text),
  secretPath: t.nullable(t.text),
} as const;
const SHOWN = `select ${COLUMNS}, ${SHOWN_COLUMNS} from ${TABLE} x cross join lateral ${behindOf(RECORDS)} behind`;

/** Webhooks by ID, in any project, for their jobs. */
export const findWebhookTargets = sqlStatement({
  text: `select ${COLUMNS} from ${TABLE} x where x.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: ROW,
});

/** Webhooks by ID, in any project. */
export const findWebhooks = sqlStatement({
  text: `${SHOWN} where x.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: { ...ROW, ...SHOWN_ROW },
});

/** Webhooks of a project, by name. */
export const listWebhooks = sqlStatement({
  text: `${SHOWN} where x.project_id = :projectId order by x.name collate "C", x.id`,
  params: { projectId: t.uuid },
  row: { ...ROW, ...SHOWN_ROW },
});

/** A webhook as its job reads it. */
export type WebhookTarget = Awaited<ReturnType<typeof findWebhookTargets>>[number];

/** A webhook as the API shows it. */
export type WebhookRow = Awaited<ReturnType<typeof findWebhooks>>[number];

export const listWebhooksBehind = listingBehind(TABLE, { projectId: 'x.project_id', records: RECORDS });
export const advanceWebhook = advancing(TABLE);
export const failWebhook = failing(TABLE);
export const findMissedByWebhook = findingMissed(TABLE);
export const rewindWebhook = rewinding(TABLE);
