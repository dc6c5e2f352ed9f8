import { sql } from 'kysely';
import { prepared } from '../../../kernel/database/tables.js';
import { anyOfTexts, type ListParams, rowsOfLists, type TextParams, tables } from '../entities/tables.js';

const mapped = tables
  .selectFrom('secret_rotation_key as k')
  .innerJoin('folder as f', 'f.id', 'k.folder_id')
  .innerJoin('environment as e', 'e.id', 'f.environment_id')
  .leftJoin('secret as s', (join) =>
    join
      .onRef('s.folder_id', '=', 'k.folder_id')
      .onRef('s.key', '=', 'k.key')
      .onRef('s.rotation_id', '=', 'k.rotation_id'),
  )
  .select([
    'k.rotation_id as rotationId',
    'k.field',
    'k.key',
    'k.folder_id as folderId',
    'f.path',
    'f.environment_id as environmentId',
    'e.slug as environment',
    's.id as secretId',
    's.version',
  ]);
const byField = sql`k.field collate "C"`;

/** The keys reserved for rotations, their locations, and their secrets, by rotation and field. */
export const listMapped = prepared(({ rotationIds }: ListParams<'rotationIds'>) =>
  mapped.where('k.rotation_id', '=', anyOfTexts(rotationIds)).orderBy('k.rotation_id').orderBy(byField),
);

/** The same for one rotation; its folder is locked, as by every write of secrets in it. */
export const lockMappedSecrets = prepared(({ rotationId }: TextParams<'rotationId'>) =>
  mapped.where('k.rotation_id', '=', rotationId).orderBy('f.id').orderBy(byField).forNoKeyUpdate('f').forKeyShare('e'),
);

/** Changes the keys of the fields of a rotation, in a folder. */
export const changeKeys = prepared(
  ({ rotationId, folderId, fields, keys }: TextParams<'rotationId' | 'folderId'> & ListParams<'fields' | 'keys'>) =>
    tables
      .updateTable('secret_rotation_key as k')
      .from(rowsOfLists({ field: ['text', fields], key: ['text', keys] }))
      .set(({ ref }) => ({ key: ref('given.key'), folder_id: folderId }))
      .where('k.rotation_id', '=', rotationId)
      .whereRef('k.field', '=', 'given.field'),
);
