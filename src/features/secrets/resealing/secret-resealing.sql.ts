import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { secretDigest } from '../core/secret-states.js';

/** Projects of old databases. */
export const listPending = sqlStatement({
  text: 'select project_id as "projectId", organization_id as "organizationId" from secret_reseal order by project_id',
  params: {},
  row: { projectId: t.uuid, organizationId: t.uuid },
});

/** Projects that were resealed according to the audit trail. */
export const listResealed = sqlStatement({
  text: `select distinct project_id as "projectId" from audit_record where action = :action and facts->'isLast' = 'true'`,
  params: { action: t.text },
  row: { projectId: t.nullable(t.uuid) },
});

export const finishResealing = sqlStatement({
  text: 'delete from secret_reseal where project_id = :projectId',
  params: { projectId: t.uuid },
  row: {},
});

/** All secrets of a project, existing or deleted, and the size of their values and versions. */
export const listSized = sqlStatement({
  text: `select id, sum(bytes)::float8 as bytes from (
      select id, octet_length(value_sealed) as bytes from secret where project_id = :projectId
      union all select secret_id, octet_length(value_sealed) from secret_version where project_id = :projectId
    ) rows group by id order by id`,
  params: { projectId: t.uuid },
  row: { id: t.uuid, bytes: t.double },
});

const CONTENTS =
  'value_sealed as "valueSealed", comment_sealed as "commentSealed", metadata_sealed as "metadataSealed"';

const CONTENTS_ROW = {
  id: t.uuid,
  version: t.integer,
  valueSealed: t.nullable(t.bytea),
  commentSealed: t.nullable(t.bytea),
  metadataSealed: t.nullable(t.bytea),
} as const;

/** Secrets, locked. */
export const lockCurrent = sqlStatement({
  text: `select id, version, ${CONTENTS} from secret where id = any(:ids::uuid[]) order by id for update`,
  params: { ids: t.array(t.uuid) },
  row: CONTENTS_ROW,
});

/** Versions of secrets, but for deletions, locked. */
export const lockVersions = sqlStatement({
  text: `select secret_id as id, version, is_deletion as "isDeletion", ${CONTENTS} from secret_version
    where secret_id = any(:ids::uuid[]) and not is_deletion order by secret_id, version for update`,
  params: { ids: t.array(t.uuid) },
  row: { ...CONTENTS_ROW, isDeletion: t.boolean },
});

const SET = 'set value_sealed = given.value, comment_sealed = given.comment, metadata_sealed = given.metadata';
const ARRAYS = ':ids::uuid[], :versions::int[], :values::bytea[], :comments::bytea[], :metadata::bytea[]';
const COLUMNS = {
  ids: t.array(t.uuid),
  versions: t.array(t.integer),
  values: t.array(t.nullable(t.bytea)),
  comments: t.array(t.nullable(t.bytea)),
  metadata: t.array(t.nullable(t.bytea)),
} as const;

export const updateVersions = sqlStatement({
  text: `update secret_version v ${SET}
    from unnest(${ARRAYS}) as given (id, version, value, comment, metadata) where v.secret_id = given.id and v.version = given.version`,
  params: COLUMNS,
  row: {},
});

export const updateCurrent = sqlStatement({
  text: `update secret s ${SET}, value_digest = given.digest
    from unnest(${ARRAYS}, :digests::bytea[]) as given (id, version, value, comment, metadata, digest)
    where s.id = given.id and s.version = given.version
    returning s.id, s.version, ${secretDigest('s')} as digest`,
  params: { ...COLUMNS, digests: t.array(t.nullable(t.bytea)) },
  row: { id: t.uuid, version: t.integer, digest: t.text },
});
