import { plannedOnce } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

const MAPPED = {
  rotationId: t.uuid,
  field: t.text,
  key: t.text,
  folderId: t.uuid,
  path: t.text,
  environmentId: t.uuid,
  environment: t.text,
  secretId: t.nullable(t.uuid),
  version: t.nullable(t.integer),
} as const;

const SELECT = `select k.rotation_id as "rotationId", k.field, k.key, k.folder_id as "folderId", f.path,
    f.environment_id as "environmentId", e.slug as environment, s.id as "secretId", s.version
  from secret_rotation_key k join folder f on f.id = k.folder_id join environment e on e.id = f.environment_id
    left join secret s on s.folder_id = k.folder_id and s.key = k.key and s.rotation_id = k.rotation_id`;

/** The keys reserved for rotations, their locations, and their secrets, by rotation and field. */
export const listMapped = sqlStatement({
  text: `${SELECT} where k.rotation_id = any(${plannedOnce(':rotationIds', 'uuid')}) order by k.rotation_id, k.field collate "C"`,
  params: { rotationIds: t.array(t.uuid) },
  row: MAPPED,
});

/** The same for one rotation; its folder is locked, as by every write of secrets in it. */
export const holdMapped = sqlStatement({
  text: `${SELECT} where k.rotation_id = :rotationId order by f.id, k.field collate "C" for no key update of f for key share of e`,
  params: { rotationId: t.uuid },
  row: MAPPED,
});

const KEYS = { rotationId: t.uuid, fields: t.array(t.text), keys: t.array(t.text) } as const;

export const keepKeys = sqlStatement({
  text: `insert into secret_rotation_key (rotation_id, field, organization_id, project_id, folder_id, key)
    select :rotationId, given.field, :organizationId, :projectId, :folderId, given.key
    from unnest(:fields::text[], :keys::text[]) as given (field, key)`,
  params: { ...KEYS, organizationId: t.uuid, projectId: t.uuid, folderId: t.uuid },
  row: {},
});

/** Changes the keys of the fields of a rotation, in a folder. */
export const changeKeys = sqlStatement({
  text: `update secret_rotation_key k set key = given.key, folder_id = :folderId
    from unnest(:fields::text[], :keys::text[]) as given (field, key)
    where k.rotation_id = :rotationId and k.field = given.field`,
  params: { ...KEYS, folderId: t.uuid },
  row: {},
});

export const forgetKeys = sqlStatement({
  text: 'delete from secret_rotation_key where rotation_id = :rotationId',
  params: { rotationId: t.uuid },
  row: {},
});

/** Folders by ID: their locations. */
export const listFolderPlaces = sqlStatement({
  text: `select f.id, f.path, f.project_id as "projectId", f.environment_id as "environmentId", e.slug as "environmentSlug", e.name as "environmentName"
    from folder f join environment e on e.id = f.environment_id where f.id = any(${plannedOnce(':folderIds', 'uuid')})`,
  params: { folderIds: t.array(t.uuid) },
  row: {
    id: t.uuid,
    path: t.text,
    projectId: t.uuid,
    environmentId: t.uuid,
    environmentSlug: t.text,
    environmentName: t.text,
  },
});
