import { plannedOnce } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Whether keys are reserved for rotations in some of these folders. */
export const findKept = sqlStatement({
  text: `select count(distinct rotation_id)::integer as rotations from secret_rotation_key where folder_id = any(${plannedOnce(':folderIds', 'uuid')})`,
  params: { folderIds: t.array(t.uuid) },
  row: { rotations: t.integer },
});
