import { plannedOnce } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { lengthOf } from '../scope/value-column.sql.js';

/** All folders of environments, including the root folders, parents first. */
export const listFoldersOf = sqlStatement({
  text: `select f.id, f.environment_id as "environmentId", e.slug as environment, f.path
    from folder f join environment e on e.id = f.environment_id
    where f.environment_id = any(:environmentIds) order by e.position, f.path collate "C"`,
  params: { environmentIds: t.array(t.uuid) },
  row: { id: t.uuid, environmentId: t.uuid, environment: t.text, path: t.text },
});

/** Secrets of folders with the attributes that rules use, and their sizes. No value is read. */
export const listSizes = sqlStatement({
  text: `select s.id, s.folder_id as "folderId", s.key, ${lengthOf('s.value_sealed')} as "valueBytes",
      octet_length(s.metadata::text) + coalesce(octet_length(s.comment_sealed), 0)
        + coalesce(octet_length(s.metadata_sealed), 0) as "otherBytes",
      array(select g.slug from secret_tag st join tag g on g.id = st.tag_id where st.secret_id = s.id) as tags
    from secret s where s.folder_id = any(${plannedOnce(':folderIds', 'uuid')}) limit :limit::integer`,
  params: { folderIds: t.array(t.uuid), limit: t.integer },
  row: {
    id: t.uuid,
    folderId: t.uuid,
    key: t.text,
    valueBytes: t.integer,
    otherBytes: t.integer,
    tags: t.array(t.text),
  },
});

/** Imports of folders, those of each folder in their order. */
export const listImportsFrom = sqlStatement({
  text: `select folder_id as "folderId", source_folder_id as "sourceFolderId" from secret_import
    where folder_id = any(${plannedOnce(':folderIds', 'uuid')}) order by folder_id, position`,
  params: { folderIds: t.array(t.uuid) },
  row: { folderId: t.uuid, sourceFolderId: t.uuid },
});

/** The root folders of a project. */
export const listRoots = sqlStatement({
  text: `select f.id, f.environment_id as "environmentId", e.slug as environment
    from environment e join folder f on f.environment_id = e.id and f.path = '/' where e.project_id = :projectId`,
  params: { projectId: t.uuid },
  row: { id: t.uuid, environmentId: t.uuid, environment: t.text },
});

const PLACE = { organizationId: t.uuid, projectId: t.uuid };

/** Adds folders: `[{ id, environmentId, parentId, name, path, describedBy }]`, with descriptions of others. */
export const insertCopiedFolders = sqlStatement({
  text: `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path, description)
    select n.id, :organizationId, :projectId, n."environmentId", n."parentId", n.name, n.path, f.description
    from jsonb_to_recordset(:folders::text::jsonb)
      as n (id uuid, "environmentId" uuid, "parentId" uuid, name text, path text, "describedBy" uuid)
    left join folder f on f.id = n."describedBy"`,
  params: { ...PLACE, folders: t.text },
  row: {},
});

/** Adds imports to folders that have none, in the order given: `[{ folderId, sourceFolderId }]`. */
export const insertCopiedImports = sqlStatement({
  text: `insert into secret_import (id, organization_id, project_id, folder_id, source_folder_id, position)
    select gen_random_uuid(), :organizationId, :projectId, (i.entry ->> 'folderId')::uuid, (i.entry ->> 'sourceFolderId')::uuid,
      row_number() over (partition by i.entry ->> 'folderId' order by i.at)
    from jsonb_array_elements(:imports::text::jsonb) with ordinality as i (entry, at)`,
  params: { ...PLACE, imports: t.text },
  row: {},
});
