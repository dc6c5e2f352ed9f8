import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { type ListParams, type TextParams, tables } from '../entities/tables.js';

const imports = tables
  .selectFrom('secret_import as i')
  .innerJoin('folder as f', 'f.id', 'i.folder_id')
  .innerJoin('environment as e', 'e.id', 'f.environment_id')
  .innerJoin('folder as sf', 'sf.id', 'i.source_folder_id')
  .innerJoin('environment as se', 'se.id', 'sf.environment_id');

const text = (column: string) => sql<string>`${sql.ref(column)}`;

/** A folder at one end of an import. */
const end = (folder: string, environment: string) =>
  jsonBuildObject({
    folderId: text(`${folder}.id`),
    path: text(`${folder}.path`),
    environmentId: text(`${environment}.id`),
    environmentSlug: text(`${environment}.slug`),
    environmentName: text(`${environment}.name`),
  });

const detailed = imports
  .select(['i.id', 'i.project_id as projectId', 'i.created_at as createdAt', 'i.updated_at as updatedAt'])
  // The importing folder, the imported one, and the position from 1 without gaps among the imports of the folder.
  .select([end('f', 'e').as('folder'), end('sf', 'se').as('source'), 'i.position']);

/** Imports by ID, in no order. */
export const findImports = prepared(({ ids }: ListParams<'ids'>) => detailed.where('i.id', '=', anyOf(ids)));

/** An import with both of its folders. */
export type ImportRow = Awaited<ReturnType<typeof findImports>>[number];

/** Imports of a folder after a position, by position. */
export const listImports = prepared(
  ({
    folderId,
    after,
    limit,
  }: TextParams<'folderId'> & { readonly after: number | null; readonly limit: number | null }) =>
    detailed
      .where('i.folder_id', '=', folderId)
      .where(sql<boolean>`(${after}::integer is null or i.position > ${after})`)
      .orderBy('i.position')
      .limit(limit),
);

/** Imports of the folders at the same path of many environments. */
export const listImportsInEnvironments = prepared(
  ({ environmentIds, path }: ListParams<'environmentIds'> & TextParams<'path'>) =>
    detailed
      .where('f.environment_id', '=', anyOf(environmentIds))
      .where('f.path', '=', path)
      .orderBy('f.environment_id')
      .orderBy('i.position'),
);

/** Imports of many folders. */
export const listImportsOf = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  detailed.where('i.folder_id', '=', anyOf(folderIds)).orderBy('i.folder_id').orderBy('i.position'),
);

/** Those of these folders that exist, locked against deletion until the transaction ends. */
export const lockImportedFolders = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  tables.selectFrom('folder').select('id').where('id', '=', anyOf(folderIds)).orderBy('id').forKeyShare(),
);

/** Adds an import after those of its folder. */
export const insertImport = prepared(
  (row: TextParams<'id' | 'organizationId' | 'projectId' | 'folderId' | 'sourceFolderId'>) =>
    tables.insertInto('secret_import').values({
      id: row.id,
      organization_id: row.organizationId,
      project_id: row.projectId,
      folder_id: row.folderId,
      source_folder_id: row.sourceFolderId,
      position: sql<number>`(select coalesce(max(position), 0) + 1 from secret_import where folder_id = ${row.folderId})`,
    }),
);

/**
 * Changes the position of an import in its folder; the ones between shift by one. A position beyond the end means the
 * last one.
 */
export const moveImport = prepared(
  ({
    id,
    folderId,
    position,
    wanted,
  }: TextParams<'id' | 'folderId'> & Readonly<Record<'position' | 'wanted', number>>) =>
    tables
      .with('wanted', (from) =>
        from
          .selectFrom('secret_import')
          .select(sql<number>`least(${wanted}::integer, count(*)::integer)`.as('at'))
          .where('folder_id', '=', folderId),
      )
      .updateTable('secret_import')
      .from('wanted')
      .set({
        position: sql`case when id = ${id} then at else position + sign(${position}::integer - at)::integer end`,
        updated_at: sql`case when id = ${id} then now() else updated_at end`,
      })
      .where('folder_id', '=', folderId)
      .where(sql<boolean>`position between least(${position}, at) and greatest(${position}, at)`),
);

/** Folders outside of a set that import folders in it, by environment and path. */
export const listImporters = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  imports
    .select(['e.slug as environment', 'f.path', 'sf.path as sourcePath'])
    .where('i.source_folder_id', '=', anyOf(folderIds))
    .where('i.folder_id', '<>', sql<string>`all(${folderIds}::uuid[])`)
    .orderBy('e.position')
    .orderBy('f.path')
    .orderBy('sf.path'),
);

/** Which of these folders import. */
export const listImporting = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  tables
    .selectFrom('folder as f')
    .select(['f.id', 'f.path'])
    .where('f.id', '=', anyOf(folderIds))
    .where(sql<boolean>`exists (select from secret_import i where i.folder_id = f.id)`),
);

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
