import { sqlStatement, t } from '../../../kernel/database/statement.js';
import {
  advancing,
  behindOf,
  failing,
  findingMissed,
  listingBehind,
  RECORDS_OF_SINK as RECORDS,
  rewinding,
  SHOWN_COLUMNS,
  SHOWN_ROW,
  TARGET_COLUMNS,
  TARGET_ROW,
} from '../engine/target-progress.sql.js';

const TABLE = 'audit_sink';

const COLUMNS = `${TARGET_COLUMNS}, null::uuid as "projectId", x.kind`;
const ROW = { ...TARGET_ROW, projectId: t.nullable(t.uuid), kind: t.oneOf('webhook', 'otlp') } as const;
const SHOWN = `select ${COLUMNS}, ${SHOWN_COLUMNS} from ${TABLE} x cross join lateral ${behindOf(RECORDS)} behind`;

/** Sinks by ID, in any organization, for their jobs. */
export const findSinkTargets = sqlStatement({
  text: `select ${COLUMNS} from ${TABLE} x where x.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: ROW,
});

/** Sinks of an organization by ID. */
export const findSinks = sqlStatement({
  text: `${SHOWN} where x.organization_id = :organizationId and x.id = any(:ids)`,
  params: { organizationId: t.uuid, ids: t.array(t.uuid) },
  row: { ...ROW, ...SHOWN_ROW },
});

/** Sinks of an organization, by name. */
export const listSinks = sqlStatement({
  text: `${SHOWN} where x.organization_id = :organizationId order by x.name collate "C", x.id`,
  params: { organizationId: t.uuid },
  row: { ...ROW, ...SHOWN_ROW },
});

/** Holds an organization, so that one sink is added to it at a time. */
export const holdOrganization = sqlStatement({
  text: `select id from organization where id = :organizationId for no key update`,
  params: { organizationId: t.uuid },
  row: { id: t.uuid },
});

/** A sink as its job reads it. */
export type SinkTarget = Awaited<ReturnType<typeof findSinkTargets>>[number];

/** A sink as the API shows it. */
export type SinkRow = Awaited<ReturnType<typeof findSinks>>[number];

export const listSinksBehind = listingBehind(TABLE, { projectId: 'null::uuid', records: RECORDS });
export const advanceSink = advancing(TABLE);
export const failSink = failing(TABLE);
export const findMissedBySink = findingMissed(TABLE);
export const rewindSink = rewinding(TABLE);
