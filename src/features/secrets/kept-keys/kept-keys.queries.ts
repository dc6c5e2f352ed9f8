import { prepared } from '../../../kernel/database/tables.js';
import { among, tables } from '../entities/tables.js';

/** How many rotations have reserved keys in some of these folders. */
export const countKeeping = prepared(({ folderIds }: { readonly folderIds: readonly string[] }) =>
  tables
    .selectFrom('secret_rotation_key')
    .select(({ fn }) => fn.count<string>('rotation_id').distinct().as('rotations'))
    .where('folder_id', '=', among(folderIds)),
);
