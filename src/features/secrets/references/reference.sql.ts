import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import { TAG_SLUGS } from '../scope/subject.sql.js';

/**
 * Maximum total size of referenced values that one response inserts, in bytes. References beyond it are not expanded.
 */
const MAX_REFERENCED_BYTES = 64 * 1024 * 1024;

/** A secret in terms of references, from anywhere in its project. */
export interface SecretName {
  readonly environment: string;
  readonly path: string;
  readonly key: string;
}

const NAMES = { environments: t.array(t.text), paths: t.array(t.text), keys: t.array(t.text) } as const;

/** The parameters of names. */
export const namesOf = (names: readonly SecretName[]) => ({
  environments: names.map(({ environment }) => environment),
  paths: names.map(({ path }) => path),
  keys: names.map(({ key }) => key),
});

/** These secrets and all that they reference, directly or indirectly, at any depth. */
export const listReferenced = sqlStatement({
  text: `
  select id, project_id as "projectId", environment, path, key, version, tags,
    is_rotated as "isRotated",
    case when sum(octet_length(value_sealed)) over (order by id) <= ${MAX_REFERENCED_BYTES} then value_sealed end as "valueSealed"
  from referenced_secrets(:projectIds, :environments, :paths, :keys)`,
  params: { projectIds: t.array(t.uuid), ...NAMES },
  row: {
    id: t.uuid,
    projectId: t.uuid,
    environment: t.text,
    path: t.text,
    key: t.text,
    version: t.integer,
    tags: TAG_SLUGS,
    // A rotation writes it: its value contains no references.
    isRotated: t.boolean,
    // Null when it is too large, with those before it.
    valueSealed: t.nullable(t.bytea),
  },
});

/** A referenced secret. */
export type ReferencedRow = RowFrom<typeof listReferenced>;

/** Secrets of a project whose values reference any of these. */
export const listReferring = sqlStatement({
  text: `with target as (select * from unnest(:environments::text[], :paths::text[], :keys::text[]) as given (environment, path, key))
    select r.secret_id as id from target t join secret_reference r
      on r.project_id = :projectId and r.key = t.key and r.environment = t.environment and r.path = t.path
    union
    select s.id from target t
      join environment e on e.project_id = :projectId and e.slug = t.environment
      join folder f on f.environment_id = e.id and f.path = t.path
      join secret s on s.folder_id = f.id
      join secret_reference r on r.secret_id = s.id and r.key = t.key and r.environment is null`,
  params: { projectId: t.uuid, ...NAMES },
  row: { id: t.uuid },
});

/** Secrets of a project whose values reference any of these folders. */
export const listReferringInto = sqlStatement({
  text: `select distinct r.secret_id as id from secret_reference r
    join unnest(:environments::text[], :paths::text[]) as given (environment, path)
      on given.environment = r.environment and given.path = r.path
    where r.project_id = :projectId`,
  params: { projectId: t.uuid, environments: t.array(t.text), paths: t.array(t.text) },
  row: { id: t.uuid },
});
