import type { Context, Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { type ConstraintCodes, guarded } from '../../../kernel/database/in-transaction.js';
import { newId } from '../../../kernel/ids.js';

/** A folder at one end of an import. */
export interface ImportEnd {
  readonly folderId: string;
  readonly path: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly environmentName: string;
}

/** An import row with both of its folders. */
export interface ImportRecord {
  readonly id: string;
  readonly projectId: string;
  /** The importing folder. */
  readonly folder: ImportEnd;
  /** The imported folder. */
  readonly source: ImportEnd;
  /** From 1 without gaps among the imports of the folder. */
  readonly position: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What another caller may have created or deleted since the lookup. */
const CODES: ConstraintCodes = {
  secret_import_source_unique: 'IMPORT_EXISTS',
  secret_import_folder_id_fkey: 'FOLDER_NOT_FOUND',
  secret_import_project_id_fkey: 'PROJECT_NOT_FOUND',
};

const end = (folder: string, environment: string): string =>
  `json_build_object('folderId', ${folder}.id, 'path', ${folder}.path, 'environmentId', ${environment}.id,
     'environmentSlug', ${environment}.slug, 'environmentName', ${environment}.name)`;

const SELECT = `select i.id, i.project_id as "projectId", ${end('f', 'e')} as folder, ${end('sf', 'se')} as source,
    i.position, i.created_at as "createdAt", i.updated_at as "updatedAt"
  from secret_import i
  join folder f on f.id = i.folder_id join environment e on e.id = f.environment_id
  join folder sf on sf.id = i.source_folder_id join environment se on se.id = sf.environment_id`;

/** One import by ID. */
export async function findImport(ctx: Context, id: string): Promise<ImportRecord | undefined> {
  const [found] = await query<ImportRecord>(ctx, `${SELECT} where i.id = $1`, [id]);
  return found;
}

/** Imports by ID, in no order. */
export const listImportsByIds = (ctx: Context, ids: readonly string[]): Promise<ImportRecord[]> =>
  query<ImportRecord>(ctx, `${SELECT} where i.id = any($1::uuid[])`, [ids]);

/** Imports of a folder, by position. @param bounds the position to start after (null: from the top), and the row limit (null: all) */
export const listImports = (
  ctx: Context,
  folderId: string,
  bounds: readonly [after: string | null, limit: number | null],
): Promise<ImportRecord[]> =>
  query<ImportRecord>(
    ctx,
    `${SELECT} where i.folder_id = $1 and ($2::integer is null or i.position > $2) order by i.position limit $3`,
    [folderId, ...bounds],
  );

/** Imports of the folders at the same path of many environments, in one statement. */
export const listImportsInEnvironments = (
  ctx: Context,
  environmentIds: readonly string[],
  path: string,
): Promise<ImportRecord[]> =>
  query<ImportRecord>(
    ctx,
    `${SELECT} where f.environment_id = any($1::uuid[]) and f.path = $2 order by f.environment_id, i.position`,
    [environmentIds, path],
  );

/** Imports of many folders, in one statement. */
export const listImportsOf = (ctx: Context, folderIds: readonly string[]): Promise<ImportRecord[]> =>
  query<ImportRecord>(ctx, `${SELECT} where i.folder_id = any($1::uuid[]) order by i.folder_id, i.position`, [
    folderIds,
  ]);

/** Locks folders against deletion until the transaction ends. @returns how many of them still exist */
export async function holdFolders(tx: Transaction, ids: readonly string[]): Promise<number> {
  const held = await query(tx, 'select 1 from folder where id = any($1::uuid[]) order by id for key share', [ids]);
  return held.length;
}

/** Whether a folder imports from another, directly or through others. A folder reaches itself. */
export async function reaches(
  tx: Transaction,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const [row] = await query<{ isReached: boolean }>(
    tx,
    `with recursive reached (id) as (
       select $1::uuid
       union
       select i.source_folder_id from secret_import i join reached on reached.id = i.folder_id)
     select exists (select from reached where id = $2::uuid) as "isReached"`,
    [from, to],
  );
  return row?.isReached ?? false;
}

/**
 * Adds an import after those of its folder. @returns its ID @throws IMPORT_EXISTS, FOLDER_NOT_FOUND, PROJECT_NOT_FOUND
 */
export async function insertImport(
  tx: Transaction,
  given: { organizationId: string; projectId: string; folderId: string; sourceFolderId: string },
): Promise<string> {
  const id = newId();
  const text = `insert into secret_import (id, organization_id, project_id, folder_id, source_folder_id, position)
    select $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::uuid, coalesce(max(position), 0) + 1
    from secret_import where folder_id = $4::uuid`;
  const { organizationId, projectId, folderId, sourceFolderId } = given;
  await guarded(() => query(tx, text, [id, organizationId, projectId, folderId, sourceFolderId]), CODES);
  return id;
}

/** Changes the source of an import. @throws IMPORT_EXISTS */
export async function changeSource(tx: Transaction, id: string, sourceFolderId: string): Promise<void> {
  const text = 'update secret_import set source_folder_id = $2, updated_at = now() where id = $1';
  await guarded(() => query(tx, text, [id, sourceFolderId]), CODES);
}

/**
 * Changes the position of an import in its folder; the ones between shift by one. A position beyond the end means the
 * last one.
 */
export async function moveImport(
  tx: Transaction,
  { id, folder, position }: ImportRecord,
  wanted: number,
): Promise<void> {
  await query(
    tx,
    `with wanted (at) as (select least($4::integer, count(*)::integer) from secret_import where folder_id = $1)
     update secret_import set
       position = case when id = $2 then at else position + sign($3::integer - at)::integer end,
       updated_at = case when id = $2 then now() else updated_at end
     from wanted where folder_id = $1 and position between least($3, at) and greatest($3, at)`,
    [folder.folderId, id, position, wanted],
  );
}

/** Deletes an import; the positions of later ones decrease by one. */
export async function deleteImport(tx: Transaction, { id, folder, position }: ImportRecord): Promise<void> {
  await query(tx, 'delete from secret_import where id = $1', [id]);
  await query(tx, 'update secret_import set position = position - 1 where folder_id = $1 and position > $2', [
    folder.folderId,
    position,
  ]);
}

/** Folders outside of a set that import folders in it, by environment and path. */
export const listImporters = (
  tx: Transaction,
  folderIds: readonly string[],
): Promise<{ environment: string; path: string; sourcePath: string }[]> =>
  query(
    tx,
    `select e.slug as environment, f.path, sf.path as "sourcePath"
     from secret_import i join folder f on f.id = i.folder_id join environment e on e.id = f.environment_id
     join folder sf on sf.id = i.source_folder_id
     where i.source_folder_id = any($1::uuid[]) and i.folder_id <> all($1::uuid[])
     order by e.position, f.path collate "C", sf.path collate "C"`,
    [folderIds],
  );

/** Which of these folders import. */
export const listImporting = (tx: Transaction, folderIds: readonly string[]): Promise<{ id: string; path: string }[]> =>
  query(
    tx,
    `select f.id, f.path from folder f where f.id = any($1::uuid[]) and exists (select from secret_import i where i.folder_id = f.id)`,
    [folderIds],
  );
