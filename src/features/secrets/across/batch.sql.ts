import { plannedOnce } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * The folders of secrets, locked until the transaction ends: neither they nor their environments are renamed or moved,
 * and rules are checked at this location. Locked before the secrets themselves, as by every write in several folders.
 */
export const holdHomesOf = sqlStatement({
  text: `select f.id from folder f join environment e on e.id = f.environment_id
    where f.id in (select s.folder_id from secret s where s.id = any(${plannedOnce(':ids', 'uuid')}))
    order by f.id for no key update of f for key share of e`,
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** Projects, locked in one order: the audit records of a change in several of them are written there at its end. */
export const holdProjects = sqlStatement({
  text: `select id from project where id = any(${plannedOnce(':ids', 'uuid')}) order by id for no key update`,
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** The digest of a secret's value as stored in its project; null for the empty value. */
export const findDigest = sqlStatement({
  text: 'select value_digest as digest from secret where id = :id',
  params: { id: t.uuid },
  row: { digest: t.nullable(t.bytea) },
});
