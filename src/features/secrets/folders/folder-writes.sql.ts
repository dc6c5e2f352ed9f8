import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * Environments and their root folders, whose rows are the lock of all folders, in a mode that does not block writes of
 * secrets. The slugs of the environments cannot change meanwhile.
 */
export const holdRoots = sqlStatement({
  text: `select e.slug as environment, e.id as "environmentId", f.id as "rootId"
    from environment e join folder f on f.environment_id = e.id and f.path = '/'
    where e.project_id = :projectId and e.slug = any(:slugs::text[]) order by f.id
    for no key update of f for key share of e`,
  params: { projectId: t.uuid, slugs: t.array(t.text) },
  row: { environment: t.text, environmentId: t.uuid, rootId: t.uuid },
});

/** An environment whose folders nobody else changes until the transaction ends. */
export type LockedEnvironment = RowFrom<typeof holdRoots>;

/** Which of these paths exist. */
export const listPaths = sqlStatement({
  text: 'select id, path from folder where environment_id = :environmentId and path = any(:paths::text[])',
  params: { environmentId: t.uuid, paths: t.array(t.text) },
  row: { id: t.uuid, path: t.text },
});

/** IDs of folders by location, with the number of the location, from 1. */
export const listAtPlaces = sqlStatement({
  text: `select f.id, given.at::integer as at
    from unnest(:environmentIds::uuid[], :paths::text[]) with ordinality as given (environment_id, path, at)
    join folder f on f.environment_id = given.environment_id and f.path = given.path`,
  params: { environmentIds: t.array(t.uuid), paths: t.array(t.text) },
  row: { id: t.uuid, at: t.integer },
});

export const insertFolderRows = sqlStatement({
  text: `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path, description)
    select id, :organizationId::uuid, :projectId::uuid, :environmentId::uuid, parent_id, name, path, description
    from unnest(:ids::uuid[], :parentIds::uuid[], :names::text[], :paths::text[], :descriptions::text[])
      as given (id, parent_id, name, path, description)`,
  params: {
    organizationId: t.uuid,
    projectId: t.uuid,
    environmentId: t.uuid,
    ids: t.array(t.uuid),
    parentIds: t.array(t.uuid),
    names: t.array(t.text),
    paths: t.array(t.text),
    descriptions: t.array(t.nullable(t.text)),
  },
  row: {},
});

/** The root folder `/`, named root, of each environment. */
export const insertRoots = sqlStatement({
  text: `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
    select given.id, e.organization_id, e.project_id, e.id, null, 'root', '/'
    from unnest(:ids::uuid[], :environmentIds::uuid[]) as given (id, environment_id) join environment e on e.id = given.environment_id`,
  params: { ids: t.array(t.uuid), environmentIds: t.array(t.uuid) },
  row: {},
});

export const updateFolderRows = sqlStatement({
  text: `update folder f set parent_id = given.parent_id, name = given.name, description = given.description,
      version = f.version + 1, updated_at = now()
    from unnest(:ids::uuid[], :parentIds::uuid[], :names::text[], :descriptions::text[]) as given (id, parent_id, name, description)
    where f.id = given.id`,
  params: {
    ids: t.array(t.uuid),
    parentIds: t.array(t.uuid),
    names: t.array(t.text),
    descriptions: t.array(t.nullable(t.text)),
  },
  row: {},
});

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

/** Gives folders temporary paths. No name contains a dot, so that these are free. */
export const clearPaths = sqlStatement({
  text: `update folder set path = '/.' || id where id = any(:ids::uuid[])`,
  params: { ids: t.array(t.uuid) },
  row: {},
});

export const setPaths = sqlStatement({
  text: 'update folder f set path = given.path from unnest(:ids::uuid[], :paths::text[]) as given (id, path) where f.id = given.id',
  params: { ids: t.array(t.uuid), paths: t.array(t.text) },
  row: {},
});

/** A folder, locked against new secrets and folders in it. */
export const holdFolder = sqlStatement({
  text: 'select id from folder where id = :id for update',
  params: { id: t.uuid },
  row: { id: t.uuid },
});

/** Whether a folder contains nothing, not even imports. */
export const findContents = sqlStatement({
  text: `select not exists (select from secret where folder_id = :id) and not exists (select from folder where parent_id = :id)
      and not exists (select from secret_import where folder_id = :id) as "isEmpty"`,
  params: { id: t.uuid },
  row: { isEmpty: t.boolean },
});

/** A folder and all below it, locked against new contents and new imports from them, by path. */
export const lockTree = sqlStatement({
  text: `with locked as (
      select id, path from folder where environment_id = :environmentId and (path = :path or starts_with(path, :path || '/'))
      order by id for update)
    select id, path from locked order by path collate "C"`,
  params: { environmentId: t.uuid, path: t.text },
  row: { id: t.uuid, path: t.text },
});

/** Deletes a folder with the folders and imports in it. No row: it was deleted meanwhile. */
export const deleteFolder = sqlStatement({
  text: 'delete from folder where id = :id returning id',
  params: { id: t.uuid },
  row: { id: t.uuid },
});
