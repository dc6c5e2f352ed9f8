import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { tagSlugsOf } from '../scope/subject.records.js';
import type { UseKind } from './usage.rules.js';

/** A folder, or one secret in it. */
export interface UsedThing {
  readonly projectId: string;
  readonly folderId: string;
  readonly environment: string;
  readonly path: string;
  /** Null: any secret of the folder. */
  readonly key: string | null;
}

/**
 * A secret that references another one, or an importing folder. Fields that only one of them has are null for the
 * other.
 */
export interface UseRow {
  readonly kind: UseKind;
  readonly environmentId: string;
  readonly environment: string;
  readonly path: string;
  readonly folderId: string;
  readonly secretId: string | null;
  readonly key: string | null;
  readonly tags: readonly { readonly slug: string }[];
  /** The referenced secret. */
  readonly usedKey: string | null;
  readonly usedTags: readonly { readonly slug: string }[];
  /** The folder imports only through other folders. */
  readonly isIndirect: boolean;
}

/** The folders whose uses are listed. Null: all. */
export interface UserFolders {
  readonly importing: readonly string[] | null;
  readonly naming: readonly string[] | null;
}

/** Position of a use in the order of `listUses`. */
export const useKeyOf = ({ kind, environment, path, key, usedKey }: UseRow): CursorKey => [
  kind,
  environment,
  path,
  key ?? '',
  usedKey ?? '',
];

const ORDER = ['kind', 'environment', 'path', `coalesce(key, '')`, `coalesce("usedKey", '')`].map(
  (column) => `${column} collate "C"`,
);

/**
 * A secret that references another one in two ways is one use: `union` ensures it. An import of any depth is one as
 * well.
 */
const LIST = `
  with recursive importing (folder_id) as (
    select i.folder_id from secret_import i where i.source_folder_id = $2
    union
    select i.folder_id from secret_import i join importing on importing.folder_id = i.source_folder_id
  ), used as (
    select 'reference' as kind, s.folder_id, s.id as secret_id, s.key, t.id as used_id, t.key as "usedKey", false as "isIndirect"
    from secret t
    join secret_reference r on r.project_id = $1 and r.key = t.key
    join secret s on s.id = r.secret_id
    where t.folder_id = $2 and ($5::text is null or t.key = $5)
      and ((r.environment = $3 and r.path = $4) or (r.environment is null and s.folder_id = $2))
    union
    select 'import', i.folder_id, null, null, null, null,
      not exists (select from secret_import direct where direct.folder_id = i.folder_id and direct.source_folder_id = $2)
    from importing i where i.folder_id <> $2
  ), placed as (
    select used.*, e.id as "environmentId", e.slug as environment, f.path
    from used join folder f on f.id = used.folder_id join environment e on e.id = f.environment_id
    where case used.kind when 'import' then $8::uuid[] is null or f.id in (select unnest($8))
      else $9::uuid[] is null or f.id in (select unnest($9)) end
  ), page as (
    select * from placed
    where $6::text[] is null or (${ORDER.join(', ')}) > (${[1, 2, 3, 4, 5].map((at) => `($6::text[])[${at}]`).join(', ')})
    order by ${ORDER.join(', ')} limit $7
  )
  select kind, "environmentId", environment, path, folder_id as "folderId", secret_id as "secretId", key, "usedKey", "isIndirect",
    ${tagSlugsOf('page.secret_id')} as tags, ${tagSlugsOf('page.used_id')} as "usedTags"
  from page order by ${ORDER.join(', ')}`;

/** What uses a folder or a secret, in one statement: imports, then references, by environment (slug), path and key. */
export const listUses = (
  ctx: Context,
  { projectId, folderId, environment, path, key }: UsedThing,
  { folders, after, limit }: { folders: UserFolders; after: CursorKey | null; limit: number },
): Promise<UseRow[]> =>
  query<UseRow>(ctx, LIST, [
    projectId,
    folderId,
    environment,
    path,
    key,
    after,
    limit,
    folders.importing,
    folders.naming,
  ]);
