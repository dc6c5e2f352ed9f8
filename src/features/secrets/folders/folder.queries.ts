import { sql } from 'kysely';
import { ofEach } from '../../../kernel/database/plans.sql.js';
import { anyOf, pageBy, prepared } from '../../../kernel/database/tables.js';
import type { KeyBounds } from '../../../kernel/paging.js';
import type { ProjectAccess } from '../../projects/public.js';
import { among, tables } from '../entities/tables.js';

interface Ids {
  readonly ids: readonly string[];
}

interface OfEnvironment {
  readonly environmentId: string;
}

const placed = tables.selectFrom('folder as f').innerJoin('environment as e', 'e.id', 'f.environment_id');

const folders = placed.select([
  'f.id',
  'f.project_id as projectId',
  'f.environment_id as environmentId',
  'e.slug as environmentSlug',
  'e.name as environmentName',
  'f.parent_id as parentId',
  'f.name',
  'f.path',
  'f.description',
  'f.version',
  'f.created_at as createdAt',
  'f.updated_at as updatedAt',
]);

/** Folders by ID, in no order. */
export const findFolders = prepared(({ ids }: Ids) => folders.where('f.id', '=', anyOf(ids)));

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
export const findFolderByPath = prepared(({ environmentId, path }: OfEnvironment & { readonly path: string }) =>
  folders.where('f.environment_id', '=', environmentId).where('f.path', '=', path),
);

/** `/a` -> `/a/`, `/` -> `/`: the prefix of the paths of all folders below. */
export const prefixOf = (path: string): string => (path === '/' ? path : `${path}/`);

/** A page of folders by path, and with `modifiedSince` only of those in which a secret was written then or later. */
interface FolderList extends KeyBounds, OfEnvironment {
  readonly modifiedSince: Date | null;
}

const modifiedSince = (since: Date | null) =>
  folders.where(({ or, exists, selectFrom }) =>
    or([
      sql<boolean>`${since}::timestamptz is null`,
      exists(
        selectFrom('secret_version as v')
          .select('v.version')
          .whereRef('v.folder_id', '=', 'f.id')
          .where('v.created_at', '>=', sql<Date>`${since}`),
      ),
    ]),
  );

/** The folders directly in a folder. */
export const listFoldersInside = prepared((page: FolderList & { readonly folderId: string }) =>
  modifiedSince(page.modifiedSince).where('f.parent_id', '=', page.folderId).$call(pageBy('f.path', page)),
);

/** The folders at any depth whose paths begin with a prefix. */
export const listFoldersBelow = prepared((page: FolderList & { readonly prefix: string }) =>
  modifiedSince(page.modifiedSince)
    .where('f.environment_id', '=', page.environmentId)
    .where('f.path', '<>', '/')
    .where(sql<boolean>`starts_with(f.path, ${page.prefix})`)
    .$call(pageBy('f.path', page)),
);

/** A folder and all below it, by path, with the number of secrets directly in each. */
export const listTree = prepared(
  ({ environmentId, path, prefix }: OfEnvironment & { readonly path: string; readonly prefix: string }) =>
    folders
      .select(({ selectFrom }) =>
        selectFrom('secret as s')
          .select(sql<number>`count(*)::integer`.as('count'))
          .whereRef('s.folder_id', '=', 'f.id')
          .$asScalar()
          .$notNull()
          .as('secretCount'),
      )
      .where('f.environment_id', '=', environmentId)
      .where(({ or, eb }) => or([eb('f.path', '=', path), sql<boolean>`starts_with(f.path, ${prefix})`]))
      .orderBy('f.path'),
);

/** The folders directly in many folders, by path: a page of each of them. */
export const listFoldersInFolders = prepared((page: KeyBounds & { readonly folderIds: readonly string[] }) =>
  ofEach(tables, page.folderIds, (id) => folders.where('f.parent_id', '=', id).$call(pageBy('f.path', page))),
);

/** The folders directly in one path of many environments, by path: a page of each of them. */
export const listFoldersInEnvironments = prepared(
  (page: KeyBounds & { readonly environmentIds: readonly string[]; readonly path: string }) =>
    ofEach(tables, page.environmentIds, (id) =>
      folders
        .where('f.parent_id', '=', ({ selectFrom }) =>
          selectFrom('folder as parent')
            .select('parent.id')
            .where('parent.environment_id', '=', id)
            .where('parent.path', '=', page.path),
        )
        .$call(pageBy('f.path', page)),
    ),
);

/** Whether each of these folders directly contains secrets and imports. */
export const listHolding = prepared(({ ids }: Ids) =>
  tables
    .selectFrom('folder as f')
    .select(({ exists, selectFrom }) => [
      'f.id',
      exists(selectFrom('secret as s').select('s.id').whereRef('s.folder_id', '=', 'f.id')).as('secrets'),
      exists(selectFrom('secret_import as i').select('i.id').whereRef('i.folder_id', '=', 'f.id')).as('imports'),
    ])
    .where('f.id', '=', anyOf(ids)),
);

const places = placed.select(['f.id', 'f.path', 'e.slug as environment']);

/** All folders of an environment whose slug is not this one. */
export const listFoldersToFollow = prepared(({ environmentId, to }: OfEnvironment & { readonly to: string }) =>
  places.where('e.id', '=', environmentId).where('e.slug', '<>', to),
);

/** All folders of an environment, locked, so that nothing comes in without a check. */
export const holdFoldersOf = prepared(({ environmentId }: OfEnvironment) =>
  places.where('e.id', '=', environmentId).orderBy('f.id').forUpdate('f'),
);

/**
 * Environments and their root folders, whose rows are the lock of all folders, in a mode that does not block writes of
 * secrets. The slugs of the environments cannot change meanwhile.
 */
export const holdRoots = prepared(
  ({ projectId, slugs }: { readonly projectId: string; readonly slugs: readonly string[] }) =>
    placed
      .select(['e.slug as environment', 'e.id as environmentId', 'f.id as rootId'])
      .where('e.project_id', '=', projectId)
      .where('e.slug', '=', among(slugs, 'text'))
      .where('f.path', '=', '/')
      .orderBy('f.id')
      .forNoKeyUpdate('f')
      .forKeyShare('e'),
);

/** An environment whose folders nobody else changes until the transaction ends. */
export type LockedEnvironment = Awaited<ReturnType<typeof holdRoots>>[number];

/** A folder and all below it, locked against new contents and new imports from them, by path. */
export const lockTree = prepared(({ environmentId, path }: OfEnvironment & { readonly path: string }) =>
  tables
    .with('locked', (from) =>
      from
        .selectFrom('folder')
        .select(['id', 'path'])
        .where('environment_id', '=', environmentId)
        .where(sql<boolean>`(path = ${path} or starts_with(path, ${path} || '/'))`)
        .orderBy('id')
        .forUpdate(),
    )
    .selectFrom('locked')
    .select(['id', 'path'])
    .orderBy('path'),
);

/** Whether a folder contains anything: folders, secrets or imports. */
export const findContents = prepared(({ id }: { readonly id: string }) =>
  tables.selectNoFrom(({ exists, or, selectFrom }) =>
    or([
      exists(selectFrom('secret').select('id').where('folder_id', '=', id)),
      exists(selectFrom('folder').select('id').where('parent_id', '=', id)),
      exists(selectFrom('secret_import').select('id').where('folder_id', '=', id)),
    ]).as('isFilled'),
  ),
);

/** Which of these paths exist. */
export const listPaths = prepared(({ environmentId, paths }: OfEnvironment & { readonly paths: readonly string[] }) =>
  tables
    .selectFrom('folder')
    .select(['id', 'path'])
    .where('environment_id', '=', environmentId)
    .where('path', '=', among(paths, 'text')),
);

/** Folders by location: an environment, and a path in it. */
export const listAtPlaces = prepared(
  ({ environmentIds, paths }: { readonly environmentIds: readonly string[]; readonly paths: readonly string[] }) =>
    tables
      .selectFrom('folder as f')
      .select(['f.id', 'f.environment_id as environmentId', 'f.path'])
      .where(
        sql<boolean>`(f.environment_id, f.path) in (select * from unnest(${environmentIds}::uuid[], ${paths}::text[]))`,
      ),
);

/** The root folder `/`, named root, of each environment. */
export const insertRoots = prepared(({ ids, environmentIds }: Ids & { readonly environmentIds: readonly string[] }) =>
  tables
    .insertInto('folder')
    .columns(['id', 'organization_id', 'project_id', 'environment_id', 'name', 'path'])
    .expression((from) =>
      from
        .selectFrom('environment as e')
        .innerJoin(
          sql<{ id: string; environment_id: string }>`unnest(${ids}::uuid[], ${environmentIds}::uuid[])`.as<'given'>(
            sql`given (id, environment_id)`,
          ),
          'given.environment_id',
          'e.id',
        )
        .select(['given.id', 'e.organization_id', 'e.project_id', 'e.id as environment_id'])
        .select([sql.lit('root').as('name'), sql.lit('/').as('path')]),
    ),
);

/** What folders get: one list per column, so that the statement is the same for every number of them. */
interface ChangedFolders extends Ids {
  readonly parentIds: readonly string[];
  readonly names: readonly string[];
  readonly descriptions: readonly (string | null)[];
}

/** Writes the new state of folders. Their paths and those of all below them are updated separately: see `listMoves`. */
export const updateFolders = prepared(({ ids, parentIds, names, descriptions }: ChangedFolders) =>
  tables
    .updateTable('folder as f')
    .from(
      sql<{
        id: string;
        parent_id: string;
        name: string;
        description: string | null;
      }>`unnest(${ids}::uuid[], ${parentIds}::uuid[],
        ${names}::text[], ${descriptions}::text[])`.as<'given'>(sql`given (id, parent_id, name, description)`),
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

/** Gives folders temporary paths. No name contains a dot, so that these are free. */
export const clearPaths = prepared(({ ids }: Ids) =>
  tables.updateTable('folder').set({ path: sql`'/.' || id` }).where('id', '=', anyOf(ids)),
);

export const setPaths = prepared(({ ids, paths }: Ids & { readonly paths: readonly string[] }) =>
  tables
    .updateTable('folder as f')
    .from(
      sql<{ id: string; path: string }>`unnest(${ids}::uuid[], ${paths}::text[])`.as<'given'>(sql`given (id, path)`),
    )
    .set(({ ref }) => ({ path: ref('given.path') }))
    .whereRef('f.id', '=', 'given.id'),
);

/** All versions, also in other environments, of secrets that are in an environment, or were last. */
export const deleteHistoriesOf = prepared(({ environmentId }: OfEnvironment) =>
  tables
    .deleteFrom('secret_version as v')
    .using('secret_version as n')
    .where('n.environment_id', '=', environmentId)
    .whereRef('v.secret_id', '=', 'n.secret_id')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('secret_version as later')
            .select('later.version')
            .whereRef('later.secret_id', '=', 'n.secret_id')
            .whereRef('later.version', '>', 'n.version'),
        ),
      ),
    ),
);
