import { prepared } from '../../../kernel/database/tables.js';
import { among, tables } from '../entities/tables.js';

interface Ids {
  readonly ids: readonly string[];
}

/**
 * The folders of secrets, locked until the transaction ends: neither they nor their environments are renamed or moved,
 * and rules are checked at this location. Locked before the secrets themselves, as by every write in several folders.
 */
export const holdHomesOf = prepared(({ ids }: Ids) =>
  tables
    .selectFrom('folder as f')
    .innerJoin('environment as e', 'e.id', 'f.environment_id')
    .select('f.id')
    .where('f.id', 'in', ({ selectFrom }) =>
      selectFrom('secret as s').select('s.folder_id').where('s.id', '=', among(ids)),
    )
    .orderBy('f.id')
    .forNoKeyUpdate('f')
    .forKeyShare('e'),
);

/** Projects, locked in one order: the audit records of a change in several of them are written there at its end. */
export const holdProjects = prepared(({ ids }: Ids) =>
  tables.selectFrom('project').select('id').where('id', '=', among(ids)).orderBy('id').forNoKeyUpdate(),
);

/** The digest of a secret's value as stored in its project; null for the empty value. */
export const findDigest = prepared(({ id }: { readonly id: string }) =>
  tables.selectFrom('secret').select('value_digest as digest').where('id', '=', id),
);
