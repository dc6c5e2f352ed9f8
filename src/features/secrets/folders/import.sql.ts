import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';

/** A folder at one end of an import. */
export interface ImportEnd {
  readonly folderId: string;
  readonly path: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly environmentName: string;
}

const end = (folder: string, environment: string): string =>
  `json_build_object('folderId', ${folder}.id, 'path', ${folder}.path, 'environmentId', ${environment}.id,
     'environmentSlug', ${environment}.slug, 'environmentName', ${environment}.name)`;

const SELECT = `select i.id, i.project_id as "projectId", ${end('f', 'e')} as folder, ${end('sf', 'se')} as source,
    i.position, i.created_at as "createdAt", i.updated_at as "updatedAt"
  from secret_import i
  join folder f on f.id = i.folder_id join environment e on e.id = f.environment_id
  join folder sf on sf.id = i.source_folder_id join environment se on se.id = sf.environment_id`;

const IMPORT = {
  id: t.uuid,
  projectId: t.uuid,
  // The importing folder.
  folder: t.builtJsonOf<ImportEnd>(),
  // The imported folder.
  source: t.builtJsonOf<ImportEnd>(),
  // From 1 without gaps among the imports of the folder.
  position: t.integer,
  createdAt: t.time,
  updatedAt: t.time,
} as const;

/** One import by ID. */
export const findImport = sqlStatement({
  text: `${SELECT} where i.id = :id`,
  params: { id: t.uuid },
  row: IMPORT,
});

/** An import with both of its folders. */
export type ImportRow = RowFrom<typeof findImport>;

/** Imports by ID, in no order. */
export const findImports = sqlStatement({
  text: `${SELECT} where i.id = any(:ids::uuid[])`,
  params: { ids: t.array(t.uuid) },
  row: IMPORT,
});

/** Imports of a folder after a position, by position. */
export const listImports = sqlStatement({
  text: `${SELECT} where i.folder_id = :folderId and (:after::integer is null or i.position > :after)
    order by i.position limit :limit::integer`,
  params: { folderId: t.uuid, after: t.nullable(t.integer), limit: t.nullable(t.integer) },
  row: IMPORT,
});

/** Imports of the folders at the same path of many environments. */
export const listImportsInEnvironments = sqlStatement({
  text: `${SELECT} where f.environment_id = any(:environmentIds::uuid[]) and f.path = :path order by f.environment_id, i.position`,
  params: { environmentIds: t.array(t.uuid), path: t.text },
  row: IMPORT,
});

/** Imports of many folders. */
export const listImportsOf = sqlStatement({
  text: `${SELECT} where i.folder_id = any(:folderIds::uuid[]) order by i.folder_id, i.position`,
  params: { folderIds: t.array(t.uuid) },
  row: IMPORT,
});

/** Those of these folders that exist, locked against deletion until the transaction ends. */
export const holdFolders = sqlStatement({
  text: 'select id from folder where id = any(:ids::uuid[]) order by id for key share',
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});

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

/** Adds an import after those of its folder. */
export const insertImport = sqlStatement({
  text: `insert into secret_import (id, organization_id, project_id, folder_id, source_folder_id, position)
    select :id::uuid, :organizationId::uuid, :projectId::uuid, :folderId::uuid, :sourceFolderId::uuid, coalesce(max(position), 0) + 1
    from secret_import where folder_id = :folderId::uuid`,
  params: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid, folderId: t.uuid, sourceFolderId: t.uuid },
  row: {},
});

export const changeSource = sqlStatement({
  text: 'update secret_import set source_folder_id = :sourceFolderId, updated_at = now() where id = :id',
  params: { id: t.uuid, sourceFolderId: t.uuid },
  row: {},
});

/**
 * Changes the position of an import in its folder; the ones between shift by one. A position beyond the end means the
 * last one.
 */
export const moveImport = sqlStatement({
  text: `with wanted (at) as (select least(:wanted::integer, count(*)::integer) from secret_import where folder_id = :folderId)
    update secret_import set
      position = case when id = :id then at else position + sign(:position::integer - at)::integer end,
      updated_at = case when id = :id then now() else updated_at end
    from wanted where folder_id = :folderId and position between least(:position, at) and greatest(:position, at)`,
  params: { folderId: t.uuid, id: t.uuid, position: t.integer, wanted: t.integer },
  row: {},
});

export const deleteImport = sqlStatement({
  text: 'delete from secret_import where id = :id',
  params: { id: t.uuid },
  row: {},
});

/** Moves the imports of a folder behind a position up by one. */
export const closeGap = sqlStatement({
  text: 'update secret_import set position = position - 1 where folder_id = :folderId and position > :position',
  params: { folderId: t.uuid, position: t.integer },
  row: {},
});

/** Folders outside of a set that import folders in it, by environment and path. */
export const listImporters = sqlStatement({
  text: `select e.slug as environment, f.path, sf.path as "sourcePath"
    from secret_import i join folder f on f.id = i.folder_id join environment e on e.id = f.environment_id
    join folder sf on sf.id = i.source_folder_id
    where i.source_folder_id = any(:folderIds::uuid[]) and i.folder_id <> all(:folderIds::uuid[])
    order by e.position, f.path collate "C", sf.path collate "C"`,
  params: { folderIds: t.array(t.uuid) },
  row: { environment: t.text, path: t.text, sourcePath: t.text },
});

/** Which of these folders import. */
export const listImporting = sqlStatement({
  text: `select f.id, f.path from folder f
    where f.id = any(:folderIds::uuid[]) and exists (select from secret_import i where i.folder_id = f.id)`,
  params: { folderIds: t.array(t.uuid) },
  row: { id: t.uuid, path: t.text },
});
