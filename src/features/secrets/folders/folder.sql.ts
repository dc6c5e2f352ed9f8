import { type RowFrom, sqlStatement, sqlVariants, t } from '../../../kernel/database/statement.js';
import type { ProjectAccess } from '../../projects/public.js';

const FOLDER = {
  id: t.uuid,
  projectId: t.uuid,
  environmentId: t.uuid,
  environmentSlug: t.text,
  environmentName: t.text,
  parentId: t.nullable(t.uuid),
  name: t.text,
  path: t.text,
  description: t.nullable(t.text),
  version: t.integer,
  createdAt: t.time,
  updatedAt: t.time,
} as const;

const SELECT = `select f.id, f.project_id as "projectId", f.environment_id as "environmentId", e.slug as "environmentSlug",
    e.name as "environmentName", f.parent_id as "parentId", f.name, f.path, f.description, f.version, f.created_at as "createdAt", f.updated_at as "updatedAt"
  from folder f join environment e on e.id = f.environment_id`;

/** One folder by ID. */
export const findFolder = sqlStatement({
  text: `${SELECT} where f.id = :id`,
  params: { id: t.uuid },
  row: FOLDER,
});

/** A folder with slug and name of its environment. */
export type FolderRow = RowFrom<typeof findFolder>;

/** A folder, and its project as the caller sees it. */
export interface ReadFolder extends FolderRow {
  readonly access: ProjectAccess;
}

/** Adds the caller's access to folders of a project. */
export const withAccess =
  (access: ProjectAccess) =>
  (folder: FolderRow): ReadFolder => ({ ...folder, access });

/** One folder of an environment by its path. */
export const findFolderByPath = sqlStatement({
  text: `${SELECT} where f.environment_id = :environmentId and f.path = :path`,
  params: { environmentId: t.uuid, path: t.text },
  row: FOLDER,
});

/** Folders by ID, in no order. */
export const findFolders = sqlStatement({
  text: `${SELECT} where f.id = any(:ids::uuid[])`,
  params: { ids: t.array(t.uuid) },
  row: FOLDER,
});

/** `/a` -> `/a/`, `/` -> `/`: the prefix of the paths of all folders below. */
export const prefixOf = (path: string): string => (path === '/' ? path : `${path}/`);

/**
 * The folders directly in a folder, or with `recursive` all below it, by path (by code points), and with `modifiedSince` only those in
 * which a secret was written then or later.
 */
export const listFolders = sqlVariants({
  options: { recursive: [false, true] },
  text: ({ recursive }) => `${SELECT}
    where ${recursive ? `f.environment_id = :environmentId and starts_with(f.path, :prefix) and f.path <> '/'` : 'f.parent_id = :folderId'}
      and f.path > (select coalesce(:after::text, ''))
      and (:modifiedSince::timestamptz is null
        or exists (select from secret_version v where v.folder_id = f.id and v.created_at >= :modifiedSince))
    order by f.path limit :limit::integer`,
  params: {
    environmentId: t.uuid,
    prefix: t.text,
    folderId: t.uuid,
    after: t.nullable(t.text),
    modifiedSince: t.nullable(t.time),
    limit: t.nullable(t.integer),
  },
  row: FOLDER,
});

/** A folder and all below it, by path (by code points), with the number of secrets directly in each. */
export const listTree = sqlStatement({
  text: `select f.*, (select count(*)::integer from secret s where s.folder_id = f.id) as "secretCount"
    from (${SELECT} where f.environment_id = :environmentId and (f.path = :path or starts_with(f.path, :prefix))) f
    order by f.path`,
  params: { environmentId: t.uuid, path: t.text, prefix: t.text },
  row: { ...FOLDER, secretCount: t.integer },
});

const PARENTS = {
  folders: 'select unnest(:folderIds::uuid[]) as id',
  environments: 'select id from folder where environment_id = any(:environmentIds::uuid[]) and path = :path',
} as const;

/** The folders directly in many folders, or in the same path of many environments, by path: a page of each of them. */
export const listFoldersIn = sqlVariants({
  options: { parents: ['folders', 'environments'] },
  text: ({ parents }) => `select page.* from (${PARENTS[parents]} offset 0) parent cross join lateral (
      ${SELECT} where f.parent_id = parent.id and f.path > (select coalesce(:after::text, '')) order by f.path limit :limit::integer) page
    order by page.path`,
  params: {
    folderIds: t.nullable(t.array(t.uuid)),
    environmentIds: t.nullable(t.array(t.uuid)),
    path: t.nullable(t.text),
    after: t.nullable(t.text),
    limit: t.nullable(t.integer),
  },
  row: FOLDER,
});

/** Whether each of these folders directly contains secrets and imports. */
export const listHolding = sqlStatement({
  text: `select f.id, exists (select from secret s where s.folder_id = f.id) as secrets,
      exists (select from secret_import i where i.folder_id = f.id) as imports
    from folder f where f.id = any(:ids::uuid[])`,
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid, secrets: t.boolean, imports: t.boolean },
});

const PLACED = { id: t.uuid, path: t.text, environment: t.text } as const;

/** All folders of an environment whose slug is not this one. */
export const listFoldersToFollow = sqlStatement({
  text: `select f.id, f.path, e.slug as environment from folder f join environment e on e.id = f.environment_id
    where e.id = :environmentId and e.slug <> :to`,
  params: { environmentId: t.uuid, to: t.text },
  row: PLACED,
});

/** All folders of an environment, locked, so that nothing comes in without a check. */
export const holdFoldersOf = sqlStatement({
  text: `select f.id, f.path, e.slug as environment from folder f join environment e on e.id = f.environment_id
    where e.id = :environmentId order by f.id for update of f`,
  params: { environmentId: t.uuid },
  row: PLACED,
});

/** All versions, also in other environments, of secrets that are in an environment, or were last. */
export const deleteHistoriesOf = sqlStatement({
  text: `delete from secret_version v using secret_version n
    where n.environment_id = :environmentId and v.secret_id = n.secret_id
      and not exists (select from secret_version later where later.secret_id = n.secret_id and later.version > n.version)`,
  params: { environmentId: t.uuid },
  row: {},
});
