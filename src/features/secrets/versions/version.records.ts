import { type Context, SYSTEM } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import type { TagRow } from '../../tags/public.js';
import type { SecretRecord } from '../core/secret-reading.js';
import { fits, lengthOf } from '../scope/value-column.js';
import type { SecretSubject } from '../scope/visibility.rules.js';

/**
 * One version of a secret: its contents after a write, in the shape of a secret row, whose ID it has. Its sealed
 * columns can be decrypted only as this version of that ID. A deletion has only a location, a key and tags.
 */
export interface VersionRecord extends SecretRecord {
  readonly isDeletion: boolean;
  /** A version that is written again becomes an ordinary secret. */
  readonly rotationId: null;
  /** IDs of all tags that it had; `tags` are those that still exist. */
  readonly tagIds: readonly string[];
}

/** The location of a secret, or where a restore would create it when it is deleted. */
export interface Standing {
  readonly id: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environment: string;
  /** Null: the folder was deleted. */
  readonly folderId: string | null;
  readonly path: string;
  /** The location at the last write: its folder may have another path now. */
  readonly lastPath: string;
  readonly key: string;
  /** The rotation that writes it. */
  readonly rotationId: string | null;
  /** The newest version. */
  readonly version: number;
  readonly isGone: boolean;
  readonly tags: readonly TagRow[];
}

/** A deleted secret. */
export interface DeletedRecord extends Standing {
  /** Null when only a deletion is kept. */
  readonly restorableVersion: number | null;
  readonly deletedAt: Date;
  readonly actorKind: SecretRecord['actorKind'];
  readonly actorId: string;
  readonly actorName: string | null;
  readonly membershipId: string | null;
}

const tagsOf = (ids: string): string => `coalesce((
    select json_agg(json_build_object('id', t.id, 'projectId', t.project_id, 'slug', t.slug, 'color', t.color) order by t.slug collate "C")
    from tag t where t.id = any(${ids})), '[]')`;

const WRITER = `v.actor_kind as "actorKind", v.actor_id as "actorId", coalesce(i.name, u.username) as "actorName",
    coalesce(mi.id, mu.id) as "membershipId"`;

const JOIN_WRITER = `left join identity i on v.actor_kind = 'identity' and i.id = v.actor_id
  left join app_user u on v.actor_kind = 'user' and u.id = v.actor_id
  left join project_membership mi on v.actor_kind = 'identity' and mi.project_id = v.project_id and mi.identity_id = v.actor_id
  left join project_membership mu on v.actor_kind = 'user' and mu.project_id = v.project_id and mu.user_id = v.actor_id`;

/** The versions of one secret whose values fit into a response; the others are null. */
const BOUNDED_VALUE = `case when ${fits(`sum(${lengthOf('v.value_sealed')}) over (order by v.version desc rows unbounded preceding)`)}
    then v.value_sealed end`;

const columns = (withValues: boolean): string => `v.secret_id as id, v.organization_id as "organizationId",
    v.project_id as "projectId", v.environment_id as "environmentId", e.slug as environment, v.folder_id as "folderId", v.path, v.key,
    v.version, v.is_deletion as "isDeletion", ${withValues ? `${BOUNDED_VALUE} as "valueSealed",` : ''}
    v.comment_sealed as "commentSealed", v.metadata, v.metadata_sealed as "metadataSealed",
    v.skip_multiline_encoding as "skipMultilineEncoding", v.reminder_note as "reminderNote",
    v.reminder_repeat_days as "reminderRepeatDays", v.reminder_recipient_ids as "reminderRecipientIds", null::uuid as "rotationId", v.tag_ids as "tagIds",
    ${WRITER}, v.created_at as "createdAt", v.created_at as "updatedAt", ${tagsOf('v.tag_ids')} as tags`;

/** Project of a secret that is there or was, for calls that name the secret only. */
export async function findProjectOfHistory(ctx: Context, secretId: string): Promise<string | undefined> {
  const [found] = await query<{ projectId: string }>(
    ctx,
    'select project_id as "projectId" from secret_version where secret_id = $1 limit 1',
    [secretId],
  );
  return found?.projectId;
}

/**
 * Deleted folders, each with its last known path. A version keeps the path of its time; a restore uses the current or
 * last path of its folder.
 *
 * @param which versions to take it from
 */
const goneFolders = (which: string): string => `gone_folder as (
    select distinct on (v.folder_id) v.folder_id, v.path from secret_version v
    where ${which} and not exists (select from folder f where f.id = v.folder_id)
    order by v.folder_id, v.created_at desc, v.version desc)`;
const GONE_IN_ENVIRONMENT = goneFolders('v.environment_id = $1');
const GONE_OF_SECRETS = goneFolders(
  'v.folder_id in (select own.folder_id from secret_version own where own.secret_id = any($1::uuid[]))',
);

/** Needs the deleted folders. */
const JOIN_FOLDER = `left join folder f on f.id = v.folder_id
     left join gone_folder g on g.folder_id = v.folder_id`;
const PATH = 'coalesce(f.path, g.path)';
const PLACE = `v.secret_id as id, v.project_id as "projectId", v.environment_id as "environmentId", e.slug as environment,
    f.id as "folderId", ${PATH} as path, v.path as "lastPath", v.key, v.version,
    (select s.rotation_id from secret s where s.id = v.secret_id) as "rotationId"`;
const IS_NEWEST = `not exists (select from secret_version n where n.secret_id = v.secret_id and n.version > v.version)`;
const IS_GONE = 'not exists (select from secret s where s.id = v.secret_id)';

/**
 * Locations of secrets, or where a restore would create them. The latest version of an existing secret is its current
 * state.
 */
export const listStandings = (ctx: Context, ids: readonly string[]): Promise<Standing[]> =>
  query<Standing>(
    ctx,
    `with ${GONE_OF_SECRETS}
     select ${PLACE}, ${IS_GONE} as "isGone", ${tagsOf('v.tag_ids')} as tags
     from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER}
     where v.secret_id = any($1::uuid[]) and ${IS_NEWEST}`,
    [ids],
  );

/** A secret as a write left it, and its folder at that time. */
export interface WrittenSubject extends SecretSubject {
  readonly id: string;
  readonly folderId: string;
}

/**
 * What was written in folders at or after a time, including deletions: each secret once for each way that rules can see
 * it.
 */
export const listWritten = (ctx: Context, folderIds: readonly string[], since: Date): Promise<WrittenSubject[]> =>
  query<WrittenSubject>(
    ctx,
    `select v.secret_id as id, v.folder_id as "folderId", e.slug as environment, v.path, v.key, ${tagsOf('v.tag_ids')} as tags
     from (select distinct secret_id, folder_id, environment_id, path, key, tag_ids from secret_version
       where folder_id = any($1::uuid[]) and created_at >= $2) v
     join environment e on e.id = v.environment_id`,
    [folderIds, since],
  );

/**
 * The attributes of versions for rules, of existing and deleted secrets: of each version, and of the current or
 * restored location of its secret. Versions that are the same to rules are merged.
 *
 * @param which the versions
 */
const pastSubjects = (which: string): string => `with ${goneFolders(
  `v.folder_id in (select v.folder_id from secret_version v where ${which})`,
)}
  select past.environment, past.path, past.key, ${tagsOf('past.tag_ids')} as tags
  from (
    select distinct e.slug as environment, place.path, v.key, v.tag_ids
    from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER}
    cross join lateral (values (v.path), (${PATH})) as place (path)
    where ${which}
  ) past`;

/** Versions that have a tag, as rules see them. */
export const listPastCarriers = (
  ctx: Context,
  { projectId, tagId }: { projectId: string; tagId: string },
): Promise<SecretSubject[]> =>
  query<SecretSubject>(ctx, pastSubjects('v.project_id = $1 and $2 = any(v.tag_ids)'), [projectId, tagId]);

/** Versions of an environment, as rules see them. */
export const listPastOfEnvironment = (ctx: Context, environmentId: string): Promise<SecretSubject[]> =>
  query<SecretSubject>(ctx, pastSubjects('v.environment_id = $1'), [environmentId]);

/** Versions of a secret, newest first. */
export const listVersions = (
  ctx: Context,
  secretId: string,
  { before, limit, withValues }: { before: number | null; limit: number | null; withValues: boolean },
): Promise<VersionRecord[]> =>
  query<VersionRecord>(
    ctx,
    `select ${columns(withValues)} from secret_version v join environment e on e.id = v.environment_id ${JOIN_WRITER}
     where v.secret_id = $1 and ($2::int is null or v.version < $2) order by v.version desc limit $3`,
    [secretId, before, limit],
  );

/**
 * The newest versions of many secrets, each newest first, in one statement.
 *
 * @param first how many of each; null: all. @param before only versions before this one; null: all
 */
export const listNewestVersions = (
  ctx: Context,
  secretIds: readonly string[],
  { first, before }: { first: number | null; before: number | null },
): Promise<VersionRecord[]> =>
  query<VersionRecord>(
    ctx,
    `select ${columns(false)}
     from (select *, row_number() over (partition by secret_id order by version desc) as position
       from secret_version where secret_id = any($1::uuid[]) and ($3::int is null or version < $3)) v
     join environment e on e.id = v.environment_id ${JOIN_WRITER}
     where $2::int is null or v.position <= $2 order by v.version desc`,
    [secretIds, first, before],
  );

/** The stored ones of these versions of a secret, with values. */
export const findVersions = (ctx: Context, secretId: string, versions: readonly number[]): Promise<VersionRecord[]> =>
  query<VersionRecord>(
    ctx,
    `select ${columns(true)} from secret_version v join environment e on e.id = v.environment_id ${JOIN_WRITER}
     where v.secret_id = $1 and v.version = any($2::int[])`,
    [secretId, versions],
  );

/** A path, with `recursive` including everything below it. */
export interface Reach {
  readonly environmentId: string;
  readonly path: string;
  readonly recursive: boolean;
}

/** Needs $1 to $3, the parts of a reach. */
const IN_REACH = `v.environment_id = $1 and (${PATH} = $2
    or ($3::bool and ($2 = '/' or starts_with(${PATH}, $2 || '/'))))`;

/**
 * Deleted secrets of a scope, by path, key and ID.
 *
 * @param bounds what to start after (null: from the top), and the row limit (null: all)
 */
export const listDeleted = (
  ctx: Context,
  { environmentId, path, recursive }: Reach,
  { after, limit }: { after: readonly [path: string, key: string, id: string] | null; limit: number | null },
): Promise<DeletedRecord[]> =>
  query<DeletedRecord>(
    ctx,
    `with ${GONE_IN_ENVIRONMENT}
     select ${PLACE}, true as "isGone", ${tagsOf('v.tag_ids')} as tags, ${WRITER},
       v.created_at as "deletedAt",
       (select max(r.version) from secret_version r where r.secret_id = v.secret_id and not r.is_deletion) as "restorableVersion"
     from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER} ${JOIN_WRITER}
     where ${IN_REACH} and ${IS_GONE} and ${IS_NEWEST}
       and ($4::text is null or (${PATH} collate "C", v.key collate "C", v.secret_id) > ($4, $5, $6::uuid))
     order by ${PATH} collate "C", v.key collate "C", v.secret_id limit $7`,
    [environmentId, path, recursive, ...(after ?? [null, null, null]), limit],
  );

/** Secrets with any stored version in a scope, existing or deleted. */
export async function listReached(ctx: Context, { environmentId, path, recursive }: Reach): Promise<string[]> {
  const rows = await query<{ id: string }>(
    ctx,
    `with ${GONE_IN_ENVIRONMENT}
     select distinct v.secret_id as id from secret_version v ${JOIN_FOLDER} where ${IN_REACH}`,
    [environmentId, path, recursive],
  );
  return rows.map(({ id }) => id);
}

/** A version as rules see it, and its secret. */
export type PastSubject = SecretSubject & { readonly id: string };

/** Versions in a scope, as they were. Those of one secret that are the same to rules are merged. */
export const listSubjectsInReach = (ctx: Context, { environmentId, path, recursive }: Reach): Promise<PastSubject[]> =>
  query<PastSubject>(
    ctx,
    `with ${GONE_IN_ENVIRONMENT}
     select past.id, past.environment, past.path, past.key, ${tagsOf('past.tag_ids')} as tags
     from (
       select distinct v.secret_id as id, e.slug as environment, v.path, v.key, v.tag_ids
       from secret_version v join environment e on e.id = v.environment_id ${JOIN_FOLDER} where ${IN_REACH}
     ) past`,
    [environmentId, path, recursive],
  );

/** A version that was the latest of its secret at a point in time. */
export interface PastRecord extends VersionRecord {
  /** Where a restore would put it: the current path of its folder. */
  readonly placePath: string;
  /** False: that version is no longer stored. This is the oldest one that is. */
  readonly isKnown: boolean;
  /** The newest version of the secret now. */
  readonly newestVersion: number;
}

/**
 * Of the versions by the service itself the older ones are dropped first, so that before one of them no others are
 * missing: the version before the gap has the contents of the secret, except for names in its references. Needs `m`.
 */
const FOLLOWS_ONLY_RENAMES = `exists (select from secret_version n
         where n.secret_id = m.secret_id and n.version = m.next and n.actor_kind = '${SYSTEM.kind}')`;

/**
 * The secrets in a scope at a point in time, with values. Secrets that did not exist then, or were deleted, are left
 * out.
 *
 * @param ids the secrets to examine, as `listReached` returns them
 */
export const listPast = (
  ctx: Context,
  { environmentId, path, recursive }: Reach,
  { ids, at }: { ids: readonly string[]; at: Date },
): Promise<PastRecord[]> =>
  query<PastRecord>(
    ctx,
    `with ${GONE_IN_ENVIRONMENT},
     span as (
       select v.secret_id, min(v.version) as oldest, max(v.version) as newest,
         max(v.version) filter (where v.created_at <= $5) as chosen
       from secret_version v where v.secret_id = any($4::uuid[]) group by v.secret_id),
     moment as (
       select span.*, coalesce((select min(n.version) from secret_version n
           where n.secret_id = span.secret_id and n.version > span.chosen), span.chosen + 1) as next
       from span)
     select ${columns(true)}, ${PATH} as "placePath", m.newest as "newestVersion",
       (m.chosen is not null and (m.next = m.chosen + 1 or ${FOLLOWS_ONLY_RENAMES})) as "isKnown"
     from moment m
     join secret_version v on v.secret_id = m.secret_id and v.version = coalesce(m.chosen, m.oldest)
     join environment e on e.id = v.environment_id ${JOIN_FOLDER} ${JOIN_WRITER}
     where (m.chosen is null and m.oldest > 1)
       or (m.chosen is not null and ${IN_REACH} and not v.is_deletion)`,
    [environmentId, path, recursive, ids, at],
  );
