// The folders of a list, with those that they import at any depth: a recursive statement.
import type { Context } from '../../../kernel/context.js';
import { sqlVariants, t } from '../../../kernel/database/statement.js';
import { mostSlashes, type ScopeFolder, type SecretLocation } from './location.rules.js';

/** The folders of a list. */
export interface Scope {
  /** The folder at the base path. */
  readonly baseId: string;
  readonly folders: readonly ScopeFolder[];
  /** There are folders below that are too deep to be listed. */
  readonly isTruncated: boolean;
}

/** True for a folder `f` at or below the path in this parameter. */
export const isWithin = (path: string): string =>
  `(${path}::text = '/' or f.path = ${path} or starts_with(f.path, ${path} || '/'))`;

/** True for a folder `f` that is not too deep. @param most the parameter with the result of `mostSlashes` */
export const isNear = (most: string): string =>
  `char_length(f.path) - char_length(replace(f.path, '/', '')) <= ${most}::int`;

/** One folder at a time, by index: `offset 0` keeps the planner from reading the whole table once for each level. */
const IMPORTED = `union select i.source_folder_id from reached r
      cross join lateral (select source_folder_id from secret_import where folder_id = r.id offset 0) i`;

const BELOW = `select f.id, ${isNear(':most')} as is_near
    from base b join folder f on f.environment_id = b.environment_id where ${isWithin(':secretPath')}`;

const SOURCES = 'array(select i.source_folder_id from secret_import i where i.folder_id = f.id order by i.position)';

/** The folders of a list, in one statement whatever their number. A project's folders only, whatever an import names. */
export const listScope = sqlVariants({
  options: { recursive: [false, true], includeImports: [false, true] },
  text: ({ recursive, includeImports }) => `
  with recursive base as (
    select e.id as environment_id, f.id from environment e join folder f on f.environment_id = e.id and f.path = :secretPath
    where e.project_id = :projectId and e.slug = :environment
  ), below as (
    ${recursive ? BELOW : 'select id, true as is_near from base'}
  ), reached as (
    select id from below where is_near
    ${includeImports ? IMPORTED : ''}
  )
  select f.id, e.id as "environmentId", e.slug as environment, f.path, b.id is not null as "isBase",
    exists (select from below l where l.id = f.id and l.is_near) as "isListed",
    exists (select from below l where not l.is_near) as "isTruncated",
    ${includeImports ? SOURCES : `'{}'::uuid[]`} as sources
  from reached r join folder f on f.id = r.id and f.project_id = :projectId join environment e on e.id = f.environment_id
    left join base b on b.id = f.id`,
  params: { projectId: t.uuid, environment: t.text, secretPath: t.text, most: t.integer },
  row: {
    id: t.uuid,
    environmentId: t.uuid,
    environment: t.text,
    path: t.text,
    isBase: t.boolean,
    isListed: t.boolean,
    isTruncated: t.boolean,
    sources: t.array(t.uuid),
  },
});

/** The parts of a scope besides the folder at the base path. */
interface ScopeShape {
  readonly recursive: boolean;
  readonly includeImports: boolean;
}

/** The folders of a list; undefined when there is none at the location. */
export async function findScope(
  ctx: Context,
  { projectId, environment, secretPath }: SecretLocation,
  { recursive, includeImports }: ScopeShape,
): Promise<Scope | undefined> {
  const find = listScope({ recursive, includeImports });
  const rows = await find(ctx, { projectId, environment, secretPath, most: mostSlashes(secretPath) });
  const base = rows.find(({ isBase }) => isBase);
  return base && { baseId: base.id, folders: rows, isTruncated: base.isTruncated };
}
