// Secrets of several environments side by side: groups in JSON, in variants.
import { sql } from 'kysely';
import type { Context } from '../../../kernel/context.js';
import { type RowFrom, sqlVariants, t } from '../../../kernel/database/statement.js';
import { prepared } from '../../../kernel/database/tables.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { tagSlugsOf, valueDigestOf } from '../core/secret.queries.js';
import { anyOfTexts, tables } from '../entities/tables.js';
import type { ScanBounds } from '../scope/list-conditions.sql.js';

/** A secret of one environment. */
export interface ComparedSecret {
  readonly secretId: string;
  readonly environment: string;
  readonly tags: readonly { readonly slug: string }[];
  /** The digest of its value, the empty text for the empty value, and null for a value that has no digest yet. */
  readonly digest: string | null;
}

/** The scope of a comparison. */
export interface ComparisonScope {
  readonly projectId: string;
  readonly environments: readonly string[];
  readonly secretPath: string;
  readonly recursive: boolean;
  /** Leave out secrets with the same value in all environments: for callers who may see all rows. */
  readonly isNarrowed: boolean;
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
}

/** Which of these environments exist, and whether any of them has the folder. */
export const findEnvironments = prepared(
  ({ projectId, environments, secretPath }: Pick<ComparisonScope, 'projectId' | 'environments' | 'secretPath'>) =>
    tables
      .selectFrom('environment as e')
      .select(['e.id', 'e.slug'])
      .select(
        sql<boolean>`exists (select from folder f where f.environment_id = e.id and f.path = ${secretPath})`.as(
          'hasFolder',
        ),
      )
      .where('e.project_id', '=', projectId)
      .where('e.slug', '=', anyOfTexts(environments, 'text')),
);

const DIGEST = valueDigestOf('s');

const NOT_EQUAL = `having count(*) < cardinality(:environments::text[]) or count(distinct ${DIGEST}) > 1 or count(${DIGEST}) < count(*)`;

/** Secrets of several environments side by side, by path, then key. */
export const listSideBySide = sqlVariants({
  options: { isNarrowed: [false, true] },
  text: ({ isNarrowed }) => `
  select f.path, s.key, json_agg(json_build_object('secretId', s.id, 'environment', e.slug, 'digest', ${DIGEST},
    'tags', ${tagSlugsOf('s.id')})) as secrets
  from environment e
  join folder f on f.environment_id = e.id and (f.path = :secretPath or (:recursive and starts_with(f.path, :below)))
  join secret s on s.folder_id = f.id
  where e.project_id = :projectId and e.slug = any(:environments::text[])
    and (:afterPath::text is null or (f.path collate "C", s.key collate "C") > (:afterPath, :afterKey))
    and (:folderIds::uuid[] is null or f.id in (select unnest(:folderIds)))
  group by f.path, s.key ${isNarrowed ? NOT_EQUAL : ''}
  order by f.path collate "C", s.key collate "C" limit :limit::integer`,
  params: {
    projectId: t.uuid,
    environments: t.array(t.text),
    secretPath: t.text,
    recursive: t.boolean,
    below: t.text,
    afterPath: t.nullable(t.text),
    afterKey: t.nullable(t.text),
    folderIds: t.nullable(t.array(t.uuid)),
    limit: t.integer,
  },
  row: { path: t.text, key: t.text, secrets: t.builtJsonOf<readonly ComparedSecret[]>() },
});

/** The secrets of one path and key, in the environments that have it. */
export type ComparedRow = RowFrom<typeof listSideBySide>;

/** Position of a row in the order of `listCompared`. */
export const comparedKeyOf = ({ path, key }: ComparedRow): CursorKey => [path, key];

/** Secrets of several environments side by side, by path, then key, in one statement. */
export function listCompared(
  ctx: Context,
  { isNarrowed, bounds, ...place }: ComparisonScope,
  { after, limit }: { after: CursorKey | null; limit: number },
): Promise<ComparedRow[]> {
  const [afterPath = null, afterKey = null] = after ?? [];
  const below = place.secretPath === '/' ? '/' : `${place.secretPath}/`;
  const folderIds = bounds?.folderIds ?? null;
  return listSideBySide({ isNarrowed })(ctx, { ...place, below, afterPath, afterKey, folderIds, limit });
}
