import { sql } from 'kysely';
import { pagePerOwner } from '../../../kernel/database/plans.sql.js';
import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, columnsIn, pageBy, prepared } from '../../../kernel/database/tables.js';
import type { KeyBounds } from '../../../kernel/paging.js';
import type { ProjectAccess } from '../../projects/public.js';
import { FolderSchema } from '../entities/folder.entity.js';
import { anyOfTexts, type ListParams, rowsOfLists, type TextParams, tables } from '../entities/tables.js';

const placed = tables.selectFrom('folder as f').innerJoin('environment as e', 'e.id', 'f.environment_id');

const folders = placed
  .select(columnsIn('f', FolderSchema, 'organizationId'))
  .select(['e.slug as environmentSlug', 'e.name as environmentName']);

/** Folders by ID, in no order. */
export const findFolders = prepared(({ ids }: ListParams<'ids'>) => folders.where('f.id', '=', anyOf(ids)));

/** A folder with slug and name of its environment. */
export type FolderRow = Awaited<ReturnType<typeof findFolders>>[number];

/** A folder, and its project as the caller sees it. */
export interface ReadFolder extends FolderRow {
  readonly access: ProjectAccess;
}

/** Adds the caller's access to folders of a project. */
export const withAccess =
  (access: ProjectAccess) =>
  (folder: FolderRow): ReadFolder => ({ ...folder, access });

/** One folder of an environment by its path. */
export const findFolderByPath = prepared(({ environmentId, path }: TextParams<'environmentId' | 'path'>) =>
  folders.where('f.environment_id', '=', environmentId).where('f.path', '=', path),
);

/** `/a` -> `/a/`, `/` -> `/`: the prefix of the paths of all folders below. */
export const prefixOf = (path: string): string => (path === '/' ? path : `${path}/`);

/** A page of folders by path, and with `modifiedSince` only of those in which a secret was written then or later. */
interface FolderList extends KeyBounds {
  readonly modifiedSince: Date | null;
}

const modifiedSince = (since: Date | null) =>
  folders.where(
    sql<boolean>`(${since}::timestamptz is null
      or exists (select from secret_version v where v.folder_id = f.id and v.created_at >= ${since}))`,
  );

/** The folders at any depth whose paths begin with a prefix. */
export const listFoldersBelow = prepared((page: FolderList & TextParams<'environmentId' | 'prefix'>) =>
  modifiedSince(page.modifiedSince)
    .where('f.environment_id', '=', page.environmentId)
    .where(sql<boolean>`f.path <> '/' and starts_with(f.path, ${page.prefix})`)
    .$call(pageBy('f.path', page)),
);

/** A folder and all below it, by path, with the number of secrets directly in each. */
export const listTree = prepared(({ environmentId, path, prefix }: TextParams<'environmentId' | 'path' | 'prefix'>) =>
  folders
    .select(sql<number>`(select count(*)::integer from secret s where s.folder_id = f.id)`.as('secretCount'))
    .where('f.environment_id', '=', environmentId)
    .where(sql<boolean>`(f.path = ${path} or starts_with(f.path, ${prefix}))`)
    .orderBy('f.path'),
);

/** The folders directly in folders, by path: a page of each of them. */
export const listFoldersInside = prepared((page: FolderList & ListParams<'folderIds'>) =>
  pagePerOwner(tables, page.folderIds, (id) =>
    modifiedSince(page.modifiedSince).where('f.parent_id', '=', id).$call(pageBy('f.path', page)),
  ),
);

/** The folders directly in one path of many environments, by path: a page of each of them. */
export const listFoldersInEnvironments = prepared(
  (page: KeyBounds & ListParams<'environmentIds'> & TextParams<'path'>) =>
    pagePerOwner(tables, page.environmentIds, (id) =>
      folders
        .where(
          'f.parent_id',
          '=',
          sql<string>`(select p.id from folder p where p.environment_id = ${id} and p.path = ${page.path})`,
        )
        .$call(pageBy('f.path', page)),
    ),
);

/** Whether each of these folders directly contains folders, secrets and imports. */
export const listHolding = prepared(({ ids }: ListParams<'ids'>) =>
  tables
    .selectFrom('folder as f')
    .select([
      'f.id',
      sql<boolean>`exists (select from folder below where below.parent_id = f.id)`.as('folders'),
      sql<boolean>`exists (select from secret s where s.folder_id = f.id)`.as('secrets'),
      sql<boolean>`exists (select from secret_import i where i.folder_id = f.id)`.as('imports'),
    ])
    .where('f.id', '=', anyOf(ids)),
);

const places = placed.select(['f.id', 'f.path', 'e.slug as environment']);

/** All folders of an environment whose slug is not this one. */
export const listFoldersToFollow = prepared(({ environmentId, to }: TextParams<'environmentId' | 'to'>) =>
  places.where('e.id', '=', environmentId).where('e.slug', '<>', to),
);

/** All folders of an environment, locked, so that nothing comes in without a check. */
export const lockFoldersOf = prepared(({ environmentId }: TextParams<'environmentId'>) =>
  places.where('e.id', '=', environmentId).orderBy('f.id').forUpdate('f'),
);

/**
 * Environments and their root folders, whose rows are the lock of all folders, in a mode that does not block writes of
 * secrets. The slugs of the environments cannot change meanwhile.
 */
export const lockRootFolders = prepared(({ projectId, slugs }: TextParams<'projectId'> & ListParams<'slugs'>) =>
  placed
    .select(['e.slug as environment', 'e.id as environmentId', 'f.id as rootId'])
    .where('e.project_id', '=', projectId)
    .where('e.slug', '=', anyOfTexts(slugs, 'text'))
    .where('f.path', '=', '/')
    .orderBy('f.id')
    .forNoKeyUpdate('f')
    .forKeyShare('e'),
);

/** An environment whose folders nobody else changes until the transaction ends. */
export type LockedEnvironment = Awaited<ReturnType<typeof lockRootFolders>>[number];

/** A folder and all below it, locked against new contents and new imports from them, by ID. */
export const lockTree = prepared(({ environmentId, path }: TextParams<'environmentId' | 'path'>) =>
  tables
    .selectFrom('folder')
    .select(['id', 'path'])
    .where('environment_id', '=', environmentId)
    .where(sql<boolean>`(path = ${path} or starts_with(path, ${path} || '/'))`)
    .orderBy('id')
    .forUpdate(),
);

/** Folders by location: an environment, and a path in it. */
export const listAtLocations = prepared(({ environmentIds, paths }: ListParams<'environmentIds' | 'paths'>) =>
  tables
    .selectFrom('folder as f')
    .innerJoin(rowsOfLists({ environment_id: ['uuid', environmentIds], path: ['text', paths] }), (join) =>
      join.onRef('f.environment_id', '=', 'given.environment_id').onRef('f.path', '=', 'given.path'),
    )
    .select(['f.id', 'f.environment_id as environmentId', 'f.path']),
);

/** The root folder `/`, named root, of each environment. */
export const insertRoots = prepared(({ ids, environmentIds }: ListParams<'ids' | 'environmentIds'>) =>
  tables
    .insertInto('folder')
    .columns(['id', 'organization_id', 'project_id', 'environment_id', 'name', 'path'])
    .expression(({ selectFrom }) =>
      selectFrom('environment as e')
        .innerJoin(
          rowsOfLists({ id: ['uuid', ids], environment_id: ['uuid', environmentIds] }),
          'given.environment_id',
          'e.id',
        )
        .select(['given.id', 'e.organization_id', 'e.project_id', 'e.id as environment_id'])
        .select([sql.lit('root').as('name'), sql.lit('/').as('path')]),
    ),
);

/** What folders get, in a list for each column. */
type ChangedFolders = ListParams<'ids' | 'parentIds' | 'names'> & { readonly descriptions: readonly (string | null)[] };

/** Writes the new state of folders. Their paths and those of all below them are updated separately: see `listMoves`. */
export const updateFolders = prepared(({ ids, parentIds, names, descriptions }: ChangedFolders) =>
  tables
    .updateTable('folder as f')
    .from(
      rowsOfLists({
        id: ['uuid', ids],
        parent_id: ['uuid', parentIds],
        name: ['text', names],
        description: ['text', descriptions],
      }),
    )
    .set(({ ref }) => ({
      parent_id: ref('given.parent_id'),
      name: ref('given.name'),
      description: ref('given.description'),
      version: sql`f.version + 1`,
      updated_at: sql`now()`,
    }))
    .whereRef('f.id', '=', 'given.id'),
);

export const setPaths = prepared(({ ids, paths }: ListParams<'ids' | 'paths'>) =>
  tables
    .updateTable('folder as f')
    .from(rowsOfLists({ id: ['uuid', ids], path: ['text', paths] }))
    .set(({ ref }) => ({ path: ref('given.path') }))
    .whereRef('f.id', '=', 'given.id'),
);

/** All versions, also in other environments, of secrets that are in an environment, or were last. */
export const deleteHistoriesOf = prepared(({ environmentId }: TextParams<'environmentId'>) =>
  tables
    .deleteFrom('secret_version as v')
    .using('secret_version as n')
    .where('n.environment_id', '=', environmentId)
    .whereRef('v.secret_id', '=', 'n.secret_id')
    .where(
      sql<boolean>`not exists (select from secret_version later where later.secret_id = n.secret_id and later.version > n.version)`,
    ),
);

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
