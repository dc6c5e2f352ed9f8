import type { Context } from '../../../kernel/context.js';
import { EMPTY_RECORD_BYTES } from '../../../kernel/crypto/seal.js';
import { query } from '../../../kernel/database/database.js';
import type { CursorKey } from '../../../kernel/paging.js';
import type { ScanBounds } from '../scope/scan-bounds.js';
import { tagSlugsOf } from '../scope/subject.records.js';

/** A secret of one environment. */
export interface ComparedSecret {
  readonly secretId: string;
  readonly environment: string;
  readonly tags: readonly { readonly slug: string }[];
  /** The digest of its value, the empty text for the empty value, and null for a value that has no digest yet. */
  readonly digest: string | null;
}

/** The secrets of one path and key, in the environments that have it. */
export interface ComparedRow {
  readonly path: string;
  readonly key: string;
  readonly secrets: readonly ComparedSecret[];
}

/** The scope of a comparison. */
export interface ComparedPlace {
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
export const findEnvironments = (
  ctx: Context,
  { projectId, environments, secretPath }: Pick<ComparedPlace, 'projectId' | 'environments' | 'secretPath'>,
): Promise<{ id: string; slug: string; hasFolder: boolean }[]> =>
  query(
    ctx,
    `select e.id, e.slug, exists (select from folder f where f.environment_id = e.id and f.path = $3) as "hasFolder"
     from environment e where e.project_id = $1 and e.slug = any($2::text[])`,
    [projectId, environments, secretPath],
  );

/** Position of a row in the order of `listCompared`. */
export const comparedKeyOf = ({ path, key }: ComparedRow): CursorKey => [path, key];

/** Only the empty value has no digest; values written before there were digests have none either, but are longer. */
const DIGEST = `case when s.value_digest is not null then encode(s.value_digest, 'hex')
      when octet_length(s.value_sealed) = ${EMPTY_RECORD_BYTES} then '' end`;

const NOT_EQUAL = `having count(*) < cardinality($2::text[]) or count(distinct ${DIGEST}) > 1 or count(${DIGEST}) < count(*)`;

const list = (having: string): string => `
  select f.path, s.key, json_agg(json_build_object('secretId', s.id, 'environment', e.slug, 'digest', ${DIGEST},
    'tags', ${tagSlugsOf('s.id')})) as secrets
  from environment e
  join folder f on f.environment_id = e.id and (f.path = $3 or ($4 and starts_with(f.path, $5)))
  join secret s on s.folder_id = f.id
  where e.project_id = $1 and e.slug = any($2::text[])
    and ($6::text is null or (f.path collate "C", s.key collate "C") > ($6, $7))
    and ($9::uuid[] is null or f.id in (select unnest($9)))
  group by f.path, s.key ${having}
  order by f.path collate "C", s.key collate "C" limit $8`;

const LIST = list('');
const LIST_NOT_EQUAL = list(NOT_EQUAL);

/** Secrets of several environments side by side, by path, then key, in one statement. */
export const listCompared = (
  ctx: Context,
  { projectId, environments, secretPath, recursive, isNarrowed, bounds }: ComparedPlace,
  { after, limit }: { after: CursorKey | null; limit: number },
): Promise<ComparedRow[]> => {
  const [path = null, key = null] = after ?? [];
  const below = secretPath === '/' ? '/' : `${secretPath}/`;
  return query<ComparedRow>(ctx, isNarrowed ? LIST_NOT_EQUAL : LIST, [
    projectId,
    environments,
    secretPath,
    recursive,
    below,
    path,
    key,
    limit,
    bounds?.folderIds ?? null,
  ]);
};
