// Secrets and versions with a value: lateral walks along the indexes of digests, in variants.
import type { Context } from '../../../kernel/context.js';
import { type RowFrom, sqlVariants, t } from '../../../kernel/database/statement.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { TAG_SLUGS, tagSlugsOf } from '../core/secret.queries.js';
import type { ProjectDigest } from '../core/value-lookups.js';
import {
  BOUNDS_OPTION,
  BOUNDS_PARAMS,
  boundsOf,
  isWithinBounds,
  type ScanBounds,
} from '../scope/list-conditions.sql.js';

/** Where a value is looked for. */
export interface ValueCriteria {
  /** Of the projects where the caller may read values, by project. */
  readonly digests: readonly ProjectDigest[];
  /** Of those where it may have personal values. */
  readonly ownDigests: readonly ProjectDigest[];
  /** Whose personal values are looked at; null: the caller has none. */
  readonly userId: string | null;
  readonly withFormerVersions: boolean;
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
}

/** The caller's personal values. They come first. */
const OWN = `
  select 'personal' as kind, ps.id as "rowId", ps.secret_id as id, ps.project_id, ps.version
  from unnest(:ownProjectIds::uuid[], :ownDigests::bytea[]) given (project_id, digest)
  join personal_secret ps on ps.project_id = given.project_id and ps.value_digest = given.digest
  where ps.user_id = :userId and (ps.project_id, ps.secret_id) > (:afterOwnProjectId::uuid, :afterOwnId::uuid)
  order by ps.project_id, ps.secret_id limit :limit::integer`;

/**
 * The next secrets of each project in turn, no further than a page: only a nested loop can join what has a limit of its own, and it keeps
 * the order of the projects. `coalesce` keeps it to the index of digests.
 */
const walk = (rows: string): string => `
  select 'shared' as kind, found.id as "rowId", found.id, given.project_id, found.version
  from unnest(:projectIds::uuid[], :digests::bytea[], :afterIds::uuid[], :afterVersions::integer[])
    given (project_id, digest, after_id, after_version)
  cross join lateral (${rows}) found
  limit :limit::integer`;

const current = (within: string): string =>
  walk(`
    select s.id, s.version from secret s
    where s.value_digest = given.digest and s.id > given.after_id and given.after_version is not null
      and coalesce(s.project_id = given.project_id, false) and ${within}
    order by s.id limit :limit::integer`);

/** A deleted secret is in no folder: it is looked at by itself. */
const everyVersion = (within: string): string =>
  walk(`
    select v.secret_id as id, v.version from secret_version v
    where v.value_digest = given.digest and (v.secret_id, v.version) > (given.after_id, given.after_version)
      and coalesce(v.project_id = given.project_id, false)
      and coalesce((select ${within} from secret s where s.id = v.secret_id), true)
    order by v.secret_id, v.version limit :limit::integer`);

/** The secret of a hit as it is. */
const PRESENT = `
  select s.environment_id, e.slug as environment, f.path, s.key, ${tagSlugsOf('s.id')} as tags, true as is_current
  from secret s join folder f on f.id = s.folder_id join environment e on e.id = f.environment_id
  where s.id = found.id offset 0`;

/** A version of it as it was. */
const THEN = `
  select v.environment_id, e.slug, v.path, v.key,
    (select coalesce(json_agg(json_build_object('slug', t.slug)), '[]') from tag t where t.id = any(v.tag_ids)),
    exists (select from secret s where s.id = v.secret_id and s.version = v.version)
  from secret_version v join environment e on e.id = v.environment_id
  where v.secret_id = found.id and v.version = found.version offset 0`;

/** Where the caller finds a value: personal values, then secrets, or their versions, by project, ID and version. */
export const listWithValue = sqlVariants({
  options: { hasOwn: [false, true], withFormerVersions: [false, true], bounds: BOUNDS_OPTION },
  text: ({ hasOwn, withFormerVersions, bounds }) => {
    const shared = (withFormerVersions ? everyVersion : current)(isWithinBounds(bounds));
    const place = withFormerVersions
      ? `select * from (${PRESENT}) p where found.kind = 'personal' union all select * from (${THEN}) v where found.kind = 'shared'`
      : PRESENT;
    return `
  select found.kind, found."rowId", found.id, found.project_id as "projectId", found.version, place.environment_id as "environmentId",
    place.environment, place.path, place.key, place.tags, place.is_current as "isCurrent"
  from (
    select * from (${hasOwn ? `(${OWN}) union all (${shared})` : shared}) found limit :limit::integer
  ) found
  cross join lateral (${place}) place
  order by found.kind, found.project_id, found.id, found.version`;
  },
  params: {
    projectIds: t.array(t.uuid),
    digests: t.array(t.bytea),
    afterIds: t.array(t.uuid),
    afterVersions: t.array(t.integer),
    ownProjectIds: t.array(t.uuid),
    ownDigests: t.array(t.bytea),
    userId: t.nullable(t.uuid),
    afterOwnProjectId: t.uuid,
    afterOwnId: t.uuid,
    ...BOUNDS_PARAMS,
    limit: t.integer,
  },
  row: {
    kind: t.oneOf('personal', 'shared'),
    // Of a personal value its own ID, and else that of the secret.
    rowId: t.uuid,
    id: t.uuid,
    projectId: t.uuid,
    version: t.integer,
    environmentId: t.uuid,
    environment: t.text,
    path: t.text,
    key: t.text,
    tags: TAG_SLUGS,
    isCurrent: t.boolean,
  },
});

/** A secret, or a version of one, with the value. */
export type ValueRow = RowFrom<typeof listWithValue>;

/** Position of a row in the order of `listValueRows`. */
export const valueKeyOf = ({ kind, projectId, id, version }: ValueRow): CursorKey => [
  kind,
  projectId,
  id,
  String(version),
];

/** The number of parts of a position. */
export const VALUE_KEY_PARTS = 4;

/** A page of what has the value, in one statement that reads no further than that, whatever has the value. */
export function listValueRows(
  ctx: Context,
  { digests, ownDigests, userId, withFormerVersions, bounds }: ValueCriteria,
  { after, limit }: { after: CursorKey | null; limit: number },
): Promise<ValueRow[]> {
  const [kind, projectId = NO_ID, id = NO_ID, version = '-1'] = after ?? [];
  const isPastOwn = kind === 'shared';
  const inOrder = digests.toSorted((one, other) => (one.projectId < other.projectId ? -1 : 1));
  const left = isPastOwn ? inOrder.filter((project) => project.projectId >= projectId) : inOrder;
  const isFirst = (project: ProjectDigest): boolean => isPastOwn && project.projectId === projectId;
  const { choice, params } = boundsOf(bounds);
  const hasOwn = userId !== null && ownDigests.length > 0 && !isPastOwn;
  return listWithValue({ hasOwn, withFormerVersions, bounds: choice })(ctx, {
    projectIds: left.map((project) => project.projectId),
    digests: left.map(({ digest }) => digest),
    afterIds: left.map((project) => (isFirst(project) ? id : NO_ID)),
    afterVersions: left.map((project) => (isFirst(project) ? Number(version) : -1)),
    ownProjectIds: ownDigests.map((project) => project.projectId),
    ownDigests: ownDigests.map(({ digest }) => digest),
    userId,
    afterOwnProjectId: projectId,
    afterOwnId: id,
    ...params,
    limit,
  });
}
