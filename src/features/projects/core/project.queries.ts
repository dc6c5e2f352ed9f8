import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { ProjectSchema } from './project.entity.js';

/** Blocks other changes of a project's row until the commit. Inserts of rows that refer to it do not wait. */
export const lockProjectRow = prepared(({ id }: { id: string }) =>
  tablesOf<typeof ProjectSchema>().selectFrom('project').select('id').where('id', '=', id).forNoKeyUpdate(),
);
