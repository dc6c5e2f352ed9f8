// Versions of secrets and of folders that are gone: lateral joins and aggregates by which rules see the past.
import { SYSTEM } from '../../../kernel/context.js';
import { type RowFrom, sqlStatement, type Types, t } from '../../../kernel/database/statement.js';
import { columnNamesExcept, sqlColumnsOf } from '../../../kernel/database/tables.js';
import { valueDigestOf } from '../core/secret.queries.js';
import { columns, tagJson, writerOf } from '../core/secret.sql.js';
import { SecretVersionSchema } from '../entities/version.entity.js';
import { fitsIntoResponse, valueLength } from '../scope/list-conditions.sql.js';
import type { TagRow } from '../tags/public.js';

const TAGS = t.builtJsonOf<readonly TagRow[]>();

const tagsOf = (ids: string): string => `coalesce((
    select ${tagJson('t')} from tag t where t.id = any(${ids})), '[]')`;

const WRITER = columns(writerOf('v'));
const WRITER_ROW = {
  actorKind: t.oneOf('identity', 'user', 'system'),
  actorId: t.uuid,
  actorName: t.nullable(t.text),
  membershipId: t.nullable(t.uuid),
} as const;

/** The versions of one secret whose values fit into a response; the others are null. */
const BOUNDED_VALUE = `case when ${fitsIntoResponse(`sum(${valueLength('v.value_sealed')}) over (order by v.version desc rows unbounded preceding)`)}
    then v.value_sealed end`;

/** All tags that it had are in `tagIds`; `tags` are those that still exist. */
const STORED = sqlColumnsOf(
  SecretVersionSchema,
  'v',
  columnNamesExcept(SecretVersionSchema, 'secretId', 'valueSealed', 'valueDigest', 'actorKind', 'actorId'),
);

const selected = (withValues: boolean): string => `v.secret_id as id, ${STORED.text}, e.slug as environment,
    ${withValues ? `${BOUNDED_VALUE} as "valueSealed",` : ''} null::uuid as "rotationId", ${WRITER}, v.created_at as "updatedAt",
    ${tagsOf('v.tag_ids')} as tags`;

const VERSION = {
  id: t.uuid,
  ...STORED.row,
  environment: t.text,
  valueSealed: t.optional(t.nullable(t.bytea)),
  // A version that is written again becomes an ordinary secret.
  rotationId: t.nullable(t.uuid),
  ...WRITER_ROW,
  updatedAt: t.time,
  tags: TAGS,
} as const;

/**
 * Deleted folders, each with its last known path. A version keeps the path of its time; a restore uses the current or
 * last path of its folder.
 *
 * @param which versions lie in them
 */
const goneFolders = (which: string): string => `gone_folder as (
    select own.folder_id, last.path
    from (
      select had.folder_id from (select distinct v.folder_id from secret_version v where ${which}) had
      where not exists (select from folder f where f.id = had.folder_id) offset 0) own
    -- Looked up: to join would be to read all that was ever in the folders, of which few are gone.
    cross join lateral (
      select v.path from secret_version v where v.folder_id = own.folder_id
      order by v.created_at desc, v.version desc limit 1) last)`;

/** Needs the deleted folders. */
const JOIN_FOLDER = `left join folder f on f.id = v.folder_id
     left join gone_folder g on g.folder_id = v.folder_id`;
const PATH = 'coalesce(f.path, g.path)';
/** The newest version. */
const NEWEST = sqlColumnsOf(SecretVersionSchema, 'v', ['projectId', 'environmentId', 'key', 'version']);
const PLACE = `v.secret_id as id, ${NEWEST.text}, e.slug as environment, f.id as "folderId", ${PATH} as path, v.path as "lastPath",
    (select s.rotation_id from secret s where s.id = v.secret_id) as "rotationId"`;
const IS_NEWEST = `not exists (select from secret_version n where n.secret_id = v.secret_id and n.version > v.version)`;
const IS_GONE = 'not exists (select from secret s where s.id = v.secret_id)';

const PLACE_ROW = {
  id: t.uuid,
  ...NEWEST.row,
  environment: t.text,
  // Null: the folder was deleted.
  folderId: t.nullable(t.uuid),
  path: t.text,
  // The location at the last write: its folder may have another path now.
  lastPath: t.text,
  // The rotation that writes it.
  rotationId: t.nullable(t.uuid),
  isGone: t.boolean,
  tags: TAGS,
} as const;

/**
 * Locations of secrets, or where a restore would create them. The latest version of an existing secret is its current
 * state.
 */
export const listNewestStates = sqlStatement({
  text: `with ${goneFolders('v.secret_id = any(:ids::uuid[])')}
    select ${PLACE}, ${IS_GONE} as "isGone", ${tagsOf('v.tag_ids')} as tags
    from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER}
    where v.secret_id = any(:ids::uuid[]) and ${IS_NEWEST}`,
  params: { ids: t.array(t.uuid) },
  row: PLACE_ROW,
});

/** The location of a secret, or where a restore would create it when it is deleted. */
export type NewestState = RowFrom<typeof listNewestStates>;

const SUBJECT = { environment: t.text, path: t.text, key: t.text, tags: TAGS } as const;

/**
 * What was written in folders at or after a time, including deletions, and its folder at that time: each secret once for each way that
 * rules can see it.
 */
export const listWritten = sqlStatement({
  text: `select v.secret_id as id, v.folder_id as "folderId", e.slug as environment, v.path, v.key, ${tagsOf('v.tag_ids')} as tags
    from (select distinct secret_id, folder_id, environment_id, path, key, tag_ids from secret_version
      where folder_id = any(:folderIds::uuid[]) and created_at >= :since) v
    join environment e on e.id = v.environment_id`,
  params: { folderIds: t.array(t.uuid), since: t.time },
  row: { id: t.uuid, folderId: t.uuid, ...SUBJECT },
});

/**
 * The attributes of versions for rules, of existing and deleted secrets: of each version, and of the current or
 * restored location of its secret. Versions that are the same to rules are merged.
 *
 * @param which the versions
 */
const pastSubjects = <const Params extends Types>(which: string, params: Params) =>
  sqlStatement({
    text: `with ${goneFolders(which)}
    select past.environment, past.path, past.key, ${tagsOf('past.tag_ids')} as tags
    from (
      select distinct e.slug as environment, place.path, v.key, v.tag_ids
      from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER}
      cross join lateral (values (v.path), (${PATH})) as place (path)
      where ${which}
    ) past`,
    params,
    row: SUBJECT,
  });

/** Versions that have a tag, as rules see them. */
export const listVersionsWithTag = pastSubjects('v.project_id = :projectId and :tagId = any(v.tag_ids)', {
  projectId: t.uuid,
  tagId: t.uuid,
});

/** Versions of an environment, as rules see them. */
export const listPastOfEnvironment = pastSubjects('v.environment_id = :environmentId', { environmentId: t.uuid });

/** @param versions which they are, as `v` @param rest condition and order */
const versionsOf = <const Params extends Types>(
  withValues: boolean,
  { versions = 'secret_version', rest }: { readonly versions?: string; readonly rest: string },
  params: Params,
) =>
  sqlStatement({
    text: `select ${selected(withValues)} from ${versions} v join environment e on e.id = v.environment_id ${rest}`,
    params,
    row: VERSION,
  });

const listBefore = (withValues: boolean) =>
  versionsOf(
    withValues,
    {
      rest: `where v.secret_id = :secretId and (:before::int is null or v.version < :before)
        order by v.version desc limit :limit::integer`,
    },
    { secretId: t.uuid, before: t.nullable(t.integer), limit: t.nullable(t.integer) },
  );

/** Versions of a secret before one of them, newest first. */
export const listVersions = { withValues: listBefore(true), withoutValues: listBefore(false) };

/**
 * One version of a secret: its contents after a write, in the shape of a secret row, whose ID it has. Its sealed
 * columns can be decrypted only as this version of that ID. A deletion has only a location, a key and tags.
 */
export type VersionRow = RowFrom<typeof listVersions.withValues>;

/** The newest versions of many secrets before one, each newest first, and the first of each. */
export const listNewestVersions = versionsOf(
  false,
  {
    versions: `(select *, row_number() over (partition by secret_id order by version desc) as position
      from secret_version where secret_id = any(:secretIds::uuid[]) and (:before::int is null or version < :before))`,
    rest: 'where :first::int is null or v.position <= :first order by v.version desc',
  },
  { secretIds: t.array(t.uuid), before: t.nullable(t.integer), first: t.nullable(t.integer) },
);

/** These versions of secrets and the two before each, without values, of which digests tell only whether they are equal. */
export const listWithFormer = sqlStatement({
  text: `select ${selected(false)}, ${valueDigestOf('v')} as "valueDigest"
    from (
      select distinct given.secret_id, given.version - back as version
      from unnest(:secretIds::uuid[], :versions::int[]) as given (secret_id, version), generate_series(0, 2) back
    ) wanted
    -- Looked up one by one, whatever the statistics say of the table.
    cross join lateral (
      select v.* from secret_version v where v.secret_id = wanted.secret_id and v.version = wanted.version offset 0) v
    join environment e on e.id = v.environment_id`,
  params: { secretIds: t.array(t.uuid), versions: t.array(t.integer) },
  row: { ...VERSION, valueDigest: t.nullable(t.text) },
});

/** The stored ones of these versions of a secret, with values. */
export const findVersions = versionsOf(
  true,
  { rest: 'where v.secret_id = :secretId and v.version = any(:versions::int[])' },
  { secretId: t.uuid, versions: t.array(t.integer) },
);

/** A path, with `recursive` including everything below it. */
const REACH = { environmentId: t.uuid, path: t.text, recursive: t.boolean } as const;

const IN_REACH = `v.environment_id = :environmentId and (${PATH} = :path
    or (:recursive::bool and (:path = '/' or starts_with(${PATH}, :path || '/'))))`;

/**
 * Deleted secrets of a scope after a position, by path, key and ID: the newest version of each is its deletion. `restorableVersion` is
 * null when only that is kept.
 */
export const listDeleted = sqlStatement({
  text: `with ${goneFolders('v.environment_id = :environmentId and v.is_deletion')}
    select ${PLACE}, true as "isGone", ${tagsOf('v.tag_ids')} as tags, ${WRITER},
      v.created_at as "deletedAt",
      (select max(r.version) from secret_version r where r.secret_id = v.secret_id and not r.is_deletion) as "restorableVersion"
    from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER}
    where v.is_deletion and ${IN_REACH} and ${IS_GONE} and ${IS_NEWEST}
      and (:afterPath::text is null or (${PATH} collate "C", v.key collate "C", v.secret_id) > (:afterPath, :afterKey, :afterId::uuid))
    order by ${PATH} collate "C", v.key collate "C", v.secret_id limit :limit::integer`,
  params: {
    ...REACH,
    afterPath: t.nullable(t.text),
    afterKey: t.nullable(t.text),
    afterId: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: { ...PLACE_ROW, ...WRITER_ROW, deletedAt: t.time, restorableVersion: t.nullable(t.integer) },
});

/** A deleted secret. */
export type DeletedRow = RowFrom<typeof listDeleted>;

/** Secrets with any stored version in a scope, existing or deleted. */
export const listReached = sqlStatement({
  text: `with ${goneFolders('v.environment_id = :environmentId')}
    select distinct v.secret_id as id from secret_version v ${JOIN_FOLDER} where ${IN_REACH}`,
  params: REACH,
  row: { id: t.uuid },
});

/** The parts of a reach. */
export type Reach = Parameters<typeof listReached>[1];

/** Versions in a scope, as they were. Those of one secret that are the same to rules are merged. */
export const listSubjectsInReach = sqlStatement({
  text: `with ${goneFolders('v.environment_id = :environmentId')}
    select past.id, past.environment, past.path, past.key, ${tagsOf('past.tag_ids')} as tags
    from (
      select distinct v.secret_id as id, e.slug as environment, v.path, v.key, v.tag_ids
      from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER} where ${IN_REACH}
    ) past`,
  params: REACH,
  row: { id: t.uuid, ...SUBJECT },
});

/** A version as rules see it, and its secret. */
export type VersionSubject = RowFrom<typeof listSubjectsInReach>;

/**
 * Of the versions by the service itself the older ones are dropped first, so that before one of them no others are
 * missing: the version before the gap has the contents of the secret, except for names in its references. Needs `m`.
 */
const FOLLOWS_ONLY_RENAMES = `exists (select from secret_version n
         where n.secret_id = m.secret_id and n.version = m.next and n.actor_kind = '${SYSTEM.kind}')`;

/**
 * Of these secrets, as `listReached` returns them, those in a scope at a point in time, with values. Secrets that did not exist then, or
 * were deleted, are left out. Materialized: behind row security, the index is not searched for what COALESCE returns.
 */
export const listVersionsAt = sqlStatement({
  text: `with ${goneFolders('v.environment_id = :environmentId')},
    span as (
      select v.secret_id, min(v.version) as oldest, max(v.version) as newest,
        max(v.version) filter (where v.created_at <= :at) as chosen
      from secret_version v where v.secret_id = any(:ids::uuid[]) group by v.secret_id),
    moment as materialized (
      select span.*, coalesce(span.chosen, span.oldest) as wanted, coalesce((select min(n.version) from secret_version n
          where n.secret_id = span.secret_id and n.version > span.chosen), span.chosen + 1) as next
      from span)
    select ${selected(true)}, ${PATH} as "placePath", m.newest as "newestVersion",
      (m.chosen is not null and (m.next = m.chosen + 1 or ${FOLLOWS_ONLY_RENAMES})) as "isKnown"
    from moment m
    join secret_version v on v.secret_id = m.secret_id and v.version = m.wanted
    join environment e on e.id = v.environment_id ${JOIN_FOLDER}
    where (m.chosen is null and m.oldest > 1)
      or (m.chosen is not null and ${IN_REACH} and not v.is_deletion)`,
  params: { ...REACH, ids: t.array(t.uuid), at: t.time },
  row: {
    ...VERSION,
    // Where a restore would put it: the current path of its folder.
    placePath: t.text,
    // False: that version is no longer stored. This is the oldest one that is.
    isKnown: t.boolean,
    // The newest version of the secret now.
    newestVersion: t.integer,
  },
});

/** A version that was the latest of its secret at a point in time. */
export type PastRow = RowFrom<typeof listVersionsAt>;
