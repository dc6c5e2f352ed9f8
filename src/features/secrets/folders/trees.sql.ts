// Walks of trees of folders and of chains of imports: recursive.
import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * All folders of environments whose path does not match their parents, locked against new contents. `after` is null for a
 * folder that was moved into itself.
 */
export const listMoves = sqlStatement({
  text: `with recursive tree (id, path) as (
      select id, path from folder where environment_id = any(:environmentIds::uuid[]) and parent_id is null
      union all
      select f.id, case tree.path when '/' then '' else tree.path end || '/' || f.name
      from folder f join tree on tree.id = f.parent_id)
    select f.id, e.slug as environment, f.path as before, tree.path as after
    from folder f join environment e on e.id = f.environment_id left join tree on tree.id = f.id
    where f.environment_id = any(:environmentIds::uuid[]) and f.path is distinct from tree.path
    order by f.path collate "C" for update of f`,
  params: { environmentIds: t.array(t.uuid) },
  row: { id: t.uuid, environment: t.text, before: t.text, after: t.nullable(t.text) },
});

/** A folder whose path does not match its parents. */
export type FolderMove = RowFrom<typeof listMoves>;

/** Whether a folder imports from another, directly or through others. A folder reaches itself. */
export const findReached = sqlStatement({
  text: `with recursive reached (id) as (
      select :from::uuid
      union
      select i.source_folder_id from secret_import i join reached on reached.id = i.folder_id)
    select exists (select from reached where id = :to::uuid) as "isReached"`,
  params: { from: t.uuid, to: t.uuid },
  row: { isReached: t.boolean },
});
