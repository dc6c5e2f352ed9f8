import { sql } from 'kysely';
import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { anyOfTexts, type ListParams, type TextParams, tables } from '../entities/tables.js';
import { valueLength } from '../scope/list-conditions.sql.js';

/** All folders of environments, including the root folders, parents first. */
export const listFoldersOf = prepared(({ environmentIds }: ListParams<'environmentIds'>) =>
  tables
    .selectFrom('folder as f')
    .innerJoin('environment as e', 'e.id', 'f.environment_id')
    .select(['f.id', 'f.environment_id as environmentId', 'e.slug as environment', 'f.path'])
    .where('f.environment_id', '=', anyOf(environmentIds))
    .orderBy('e.position')
    .orderBy('f.path'),
);

/** Secrets of folders with the attributes that rules use, and their sizes. No value is read. */
export const listSizes = prepared(({ folderIds, limit }: ListParams<'folderIds'> & { readonly limit: number }) =>
  tables
    .selectFrom('secret as s')
    .select(['s.id', 's.folder_id as folderId', 's.key'])
    .select([
      sql<number>`${sql.raw(valueLength('s.value_sealed'))}`.as('valueBytes'),
      sql<number>`octet_length(s.metadata::text) + coalesce(octet_length(s.comment_sealed), 0)
        + coalesce(octet_length(s.metadata_sealed), 0)`.as('otherBytes'),
      sql<
        string[]
      >`array(select g.slug from secret_tag st join tag g on g.id = st.tag_id where st.secret_id = s.id)`.as('tags'),
    ])
    .where('s.folder_id', '=', anyOfTexts(folderIds))
    .limit(limit),
);

/** Imports of folders, those of each folder in their order. */
export const listImportsFrom = prepared(({ folderIds }: ListParams<'folderIds'>) =>
  tables
    .selectFrom('secret_import')
    .select(['folder_id as folderId', 'source_folder_id as sourceFolderId'])
    .where('folder_id', '=', anyOfTexts(folderIds))
    .orderBy('folder_id')
    .orderBy('position'),
);

/** The project that copies are written into. */
type Target = TextParams<'organizationId' | 'projectId'>;

/** A folder that is copied: a row of `given`. `describedBy`: the folder whose description it gets. */
export interface CopiedFolder {
  readonly id: string;
  readonly environmentId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly path: string;
  readonly describedBy: string | null;
}

/** Adds folders. @param folders in JSON: `CopiedFolder[]` */
export const insertCopiedFolders = prepared((copied: Target & TextParams<'folders'>) =>
  tables
    .insertInto('folder')
    .columns(['id', 'organization_id', 'project_id', 'environment_id', 'parent_id', 'name', 'path', 'description'])
    .expression(
      sql`select n.id, ${copied.organizationId}::uuid, ${copied.projectId}::uuid, n."environmentId", n."parentId", n.name, n.path, f.description
        from jsonb_to_recordset(${copied.folders}::text::jsonb)
          as n (id uuid, "environmentId" uuid, "parentId" uuid, name text, path text, "describedBy" uuid)
        left join folder f on f.id = n."describedBy"`,
    ),
);

/** Adds imports to folders that have none, in the order given. */
export const insertCopiedImports = prepared(
  ({ organizationId, projectId, folderIds, sourceFolderIds }: Target & ListParams<'folderIds' | 'sourceFolderIds'>) =>
    tables
      .insertInto('secret_import')
      .columns(['id', 'organization_id', 'project_id', 'folder_id', 'source_folder_id', 'position'])
      .expression(
        sql`select gen_random_uuid(), ${organizationId}::uuid, ${projectId}::uuid, i.folder_id, i.source_folder_id,
          row_number() over (partition by i.folder_id order by i.at)
        from unnest(${folderIds}::uuid[], ${sourceFolderIds}::uuid[]) with ordinality as i (folder_id, source_folder_id, at)`,
      ),
);
