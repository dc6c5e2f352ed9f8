import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** The latest versions of those of these secrets that are deleted, locked until the transaction ends. */
export const holdDeleted = sqlStatement({
  text: `select v.secret_id as id from secret_version v where v.secret_id = any(:ids::uuid[])
      and not exists (select from secret s where s.id = v.secret_id)
      and not exists (select from secret_version n where n.secret_id = v.secret_id and n.version > v.version)
    order by v.secret_id for update`,
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});
