// References and imports that are followed to any depth: a function of the database, and recursive statements.
import { sql } from 'kysely';
import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import { prepared } from '../../../kernel/database/tables.js';
import { TAG_SLUGS, tagSlugsOf } from '../core/secret.queries.js';
import { type ListParams, rowsOfLists, type TextParams, tables } from '../entities/tables.js';

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

/** The parameters of names: a list for each column. */
type Names = ListParams<'environments' | 'paths' | 'keys'>;

export const namesOf = (names: readonly SecretName[]): Names => ({
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

/** Secrets that folders import, directly or indirectly, under these names. A project's folders only, whatever an import names. */
export const listImported = sqlStatement({
  text: `with recursive given as (
    select * from unnest(:projectIds::uuid[], :environments::text[], :paths::text[], :keys::text[]) as given (project_id, environment, path, key)
  ), base as (
    select distinct f.id, g.project_id, g.environment, g.path from given g
      join environment e on e.project_id = g.project_id and e.slug = g.environment
      join folder f on f.environment_id = e.id and f.path = g.path
  ), reached as (
    select id as base_id, id from base
    union select r.base_id, i.source_folder_id from reached r
      cross join lateral (select source_folder_id from secret_import where folder_id = r.id offset 0) i
  )
  select g.project_id as "projectId", g.environment, g.path, g.key, e.slug as "sourceEnvironment", f.path as "sourcePath",
    ${tagSlugsOf('s.id')} as tags
  from given g join base b on b.project_id = g.project_id and b.environment = g.environment and b.path = g.path
    join reached r on r.base_id = b.id and r.id <> b.id
    cross join lateral (select s.id from secret s where s.folder_id = r.id and s.key = g.key offset 0) s
    join folder f on f.id = r.id and f.project_id = g.project_id join environment e on e.id = f.environment_id`,
  params: { projectIds: t.array(t.uuid), ...NAMES },
  row: {
    projectId: t.uuid,
    environment: t.text,
    path: t.text,
    key: t.text,
    sourceEnvironment: t.text,
    sourcePath: t.text,
    tags: TAG_SLUGS,
  },
});

/** A secret that a folder imports. */
export type ImportedRow = RowFrom<typeof listImported>;

/** Secrets of a project whose values reference any of these. */
export const listReferring = prepared(({ projectId, environments, paths, keys }: Names & TextParams<'projectId'>) => {
  const named = rowsOfLists({ environment: ['text', environments], path: ['text', paths], key: ['text', keys] });
  return tables
    .selectFrom(named)
    .innerJoin('secret_reference as r', (join) =>
      join
        .on('r.project_id', '=', projectId)
        .on(sql<boolean>`(r.key, r.environment, r.path) = (given.key, given.environment, given.path)`),
    )
    .select('r.secret_id as id')
    .union(({ selectFrom }) =>
      selectFrom(named)
        .innerJoin('environment as e', (join) =>
          join.on('e.project_id', '=', projectId).onRef('e.slug', '=', 'given.environment'),
        )
        .innerJoin('folder as f', (join) =>
          join.onRef('f.environment_id', '=', 'e.id').onRef('f.path', '=', 'given.path'),
        )
        .innerJoin('secret as s', 's.folder_id', 'f.id')
        .innerJoin('secret_reference as r', (join) =>
          join.onRef('r.secret_id', '=', 's.id').onRef('r.key', '=', 'given.key').on('r.environment', 'is', null),
        )
        .select('s.id'),
    );
});

/** Secrets of a project whose values reference any of these folders. */
export const listReferringInto = prepared(
  ({ projectId, environments, paths }: ListParams<'environments' | 'paths'> & TextParams<'projectId'>) =>
    tables
      .selectFrom('secret_reference as r')
      .innerJoin(rowsOfLists({ environment: ['text', environments], path: ['text', paths] }), (join) =>
        join.onRef('given.environment', '=', 'r.environment').onRef('given.path', '=', 'r.path'),
      )
      .select('r.secret_id as id')
      .distinct()
      .where('r.project_id', '=', projectId),
);

/** Of one secret: more than people look at; a value may have many thousands. */
const MOST_REFERENCES = 100;
/** Of all secrets of a response: one that has more is refused. */
export const MOST_AT_ONCE = 100_000;

/**
 * What the values of secrets reference, the first of each. Without a location it is in the folder of the secret itself: those come first.
 * One more than there may be at once says that there are too many.
 */
export const listReferences = sqlStatement({
  text: `
  select given.id as "secretId", r.environment, r.path, r.key from unnest(:ids::uuid[]) as given (id)
    cross join lateral (
      select environment, path, key from secret_reference where secret_id = given.id
      order by environment nulls first, path, key limit ${MOST_REFERENCES}
    ) r limit ${MOST_AT_ONCE + 1}`,
  params: { ids: t.array(t.uuid) },
  row: { secretId: t.uuid, environment: t.nullable(t.text), path: t.nullable(t.text), key: t.text },
});
