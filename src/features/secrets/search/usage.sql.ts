// Uses of a secret or a folder: chains of imports, and two kinds of rows in one order.
import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { TAG_SLUGS, tagSlugsOf } from '../core/secret.queries.js';

/** A folder, or one secret in it. */
export interface UsedItem {
  readonly projectId: string;
  readonly folderId: string;
  readonly environment: string;
  readonly path: string;
  /** Null: any secret of the folder. */
  readonly key: string | null;
}

/** The folders whose uses are listed. Null: all. */
export interface UserFolders {
  readonly importing: readonly string[] | null;
  readonly naming: readonly string[] | null;
}

const ORDER = ['kind', 'environment', 'path', `coalesce(key, '')`, `coalesce("usedKey", '')`].map(
  (column) => `${column} collate "C"`,
);

/**
 * What uses a folder or a secret: imports, then references, by environment (slug), path and key. A secret that references
 * another one in two ways is one use: `union` ensures it. An import of any depth is one as well. A lateral join, since Postgres may join all
 * secrets with all references where statistics tell of few.
 */
export const listUses = sqlStatement({
  text: `
  with recursive importing (folder_id) as (
    select i.folder_id from secret_import i where i.source_folder_id = :folderId
    union
    select i.folder_id from secret_import i join importing on importing.folder_id = i.source_folder_id
  ), used as (
    select 'reference' as kind, s.folder_id, s.id as secret_id, s.key, t.id as used_id, t.key as "usedKey", false as "isIndirect"
    from secret t
    join secret_reference r on r.project_id = :projectId and r.key = t.key
    cross join lateral (select s.id, s.folder_id, s.key from secret s where s.id = r.secret_id offset 0) s
    where t.folder_id = :folderId and (:key::text is null or t.key = :key)
      and ((r.environment = :environment and r.path = :path) or (r.environment is null and s.folder_id = :folderId))
    union
    select 'import', i.folder_id, null, null, null, null,
      not exists (select from secret_import direct where direct.folder_id = i.folder_id and direct.source_folder_id = :folderId)
    from importing i where i.folder_id <> :folderId
  ), placed as (
    select used.*, e.id as "environmentId", e.slug as environment, f.path
    from used join folder f on f.id = used.folder_id join environment e on e.id = f.environment_id
    where case used.kind when 'import' then :importing::uuid[] is null or f.id in (select unnest(:importing))
      else :naming::uuid[] is null or f.id in (select unnest(:naming)) end
  ), page as (
    select * from placed
    where :after::text[] is null or (${ORDER.join(', ')}) > (${[1, 2, 3, 4, 5].map((at) => `(:after::text[])[${at}]`).join(', ')})
    order by ${ORDER.join(', ')} limit :limit::integer
  )
  select kind, "environmentId", environment, path, folder_id as "folderId", secret_id as "secretId", key, "usedKey", "isIndirect",
    ${tagSlugsOf('page.secret_id')} as tags, ${tagSlugsOf('page.used_id')} as "usedTags"
  from page order by ${ORDER.join(', ')}`,
  params: {
    projectId: t.uuid,
    folderId: t.uuid,
    environment: t.text,
    path: t.text,
    key: t.nullable(t.text),
    importing: t.nullable(t.array(t.uuid)),
    naming: t.nullable(t.array(t.uuid)),
    after: t.nullable(t.array(t.text)),
    limit: t.integer,
  },
  row: {
    kind: t.oneOf('import', 'reference'),
    environmentId: t.uuid,
    environment: t.text,
    path: t.text,
    folderId: t.uuid,
    secretId: t.nullable(t.uuid),
    key: t.nullable(t.text),
    tags: TAG_SLUGS,
    // The referenced secret.
    usedKey: t.nullable(t.text),
    usedTags: TAG_SLUGS,
    // The folder imports only through other folders.
    isIndirect: t.boolean,
  },
});

/** A secret that references another one, or an importing folder. Fields that only one of them has are null for the other. */
export type UseRow = RowFrom<typeof listUses>;

/** Position of a use in the order of `listUses`. */
export const useKeyOf = ({ kind, environment, path, key, usedKey }: UseRow): CursorKey => [
  kind,
  environment,
  path,
  key ?? '',
  usedKey ?? '',
];
