import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { personalDigest } from './secret-states.js';

const COLUMNS = `id, secret_id as "secretId", version, value_sealed as "valueSealed", comment_sealed as "commentSealed",
  created_at as "createdAt", updated_at as "updatedAt"`;

const PERSONAL = {
  id: t.uuid,
  secretId: t.uuid,
  version: t.integer,
  valueSealed: t.bytea,
  commentSealed: t.nullable(t.bytea),
  createdAt: t.time,
  updatedAt: t.time,
} as const;

const WRITTEN = `${COLUMNS}, ${personalDigest('ps')} as digest`;
const WRITTEN_ROW = { ...PERSONAL, digest: t.text } as const;

/** The user's personal value of a secret, locked until the transaction ends. */
export const lockPersonal = sqlStatement({
  text: `select ${COLUMNS} from personal_secret where secret_id = :secretId and user_id = :userId for update`,
  params: { secretId: t.uuid, userId: t.uuid },
  row: PERSONAL,
});

export const insertPersonalRow = sqlStatement({
  text: `insert into personal_secret as ps (id, organization_id, project_id, secret_id, user_id, version, value_sealed, comment_sealed)
    values (:id, :organizationId, :projectId, :secretId, :userId, :version, :valueSealed, :commentSealed) returning ${WRITTEN}`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    secretId: t.uuid,
    userId: t.uuid,
    version: t.integer,
    valueSealed: t.bytea,
    commentSealed: t.nullable(t.bytea),
  },
  row: WRITTEN_ROW,
});

/** Writes the next version of a locked row. */
export const updatePersonalRow = sqlStatement({
  text: `update personal_secret ps set version = :version, value_sealed = :valueSealed, comment_sealed = :commentSealed, updated_at = now()
    where id = :id returning ${WRITTEN}`,
  params: { version: t.integer, valueSealed: t.bytea, commentSealed: t.nullable(t.bytea), id: t.uuid },
  row: WRITTEN_ROW,
});

export const deletePersonalRow = sqlStatement({
  text: 'delete from personal_secret where id = :id',
  params: { id: t.uuid },
  row: {},
});
