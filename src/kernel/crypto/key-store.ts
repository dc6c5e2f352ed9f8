import type { Query } from '../database/database.js';
import type { SealPlace } from './seal.js';

/** Whose values a key seals: those of an organization itself, or those of one of its projects. */
export interface KeyScope {
  readonly organizationId: string;
  /** `null`: the organization itself. */
  readonly projectId: string | null;
  /** A key that the organization made for projects; absent: its default key, which also seals its own values. */
  readonly organizationKeyId?: string;
}

/** Where a wrapped key stands: it opens only as the key that it is, of the scope that it is for. */
export const placeOf = (id: string, { organizationId, projectId }: KeyScope): SealPlace => ({
  organizationId,
  projectId,
  table: 'data_key',
  column: 'wrapped_key_sealed',
  rowId: id,
  rowVersion: 1,
});

/** A key version as it is stored, with what is needed to unwrap it. */
export interface StoredKey {
  readonly id: string;
  readonly wrappedKeySealed: Buffer;
  /** `null`: wrapped by the root key. */
  readonly parentKeyId: string | null;
  readonly parentWrappedKeySealed: Buffer | null;
  /** Seconds of the database's clock. */
  readonly createdAt: number;
  readonly isRetired: boolean;
  /** Only the keys of its digests are left of it: see `destroyedKey`. */
  readonly isDestroyed: boolean;
}

/** A key version to be stored. */
export interface NewKey {
  readonly id: string;
  readonly parentKeyId: string | null;
  readonly wrappedKeySealed: Buffer;
  /** Of the root key that wraps it: it is not stored once the installation has another. `null`: the root key does not wrap it. */
  readonly checkValue: Buffer | null;
}

/** Waits for a change of the root key that is about to commit, and then looks again. */
const held = (checkValue: `$${number}`): string =>
  `held as (select 1 from installation where key_check_value = ${checkValue} for share)`;

const LOAD = `
select key.id, key.project_id as "projectId", key.wrapped_key_sealed as "wrappedKeySealed", key.parent_key_id as "parentKeyId",
       parent.wrapped_key_sealed as "parentWrappedKeySealed",
       extract(epoch from key.created_at)::float8 as "createdAt", key.retired_at is not null as "isRetired",
       key.destroyed_at is not null as "isDestroyed"
from data_key key
left join data_key parent
  on parent.id = key.parent_key_id and parent.organization_id = key.organization_id and parent.project_id is null
where key.organization_id = $1`;

/** All key versions of a scope, retired ones too, in one statement. */
export const loadKeys = (
  query: Query,
  { organizationId, projectId, organizationKeyId }: KeyScope,
): Promise<StoredKey[]> =>
  projectId === null
    ? query<StoredKey>(`${LOAD} and key.project_id is null and key.organization_key_id is not distinct from $2::uuid`, [
        organizationId,
        organizationKeyId ?? null,
      ])
    : query<StoredKey>(`${LOAD} and key.project_id = $2`, [organizationId, projectId]);

/** All key versions of many projects of one organization, retired ones too, in one statement. */
export const loadProjectKeys = (
  query: Query,
  organizationId: string,
  projectIds: readonly string[],
): Promise<(StoredKey & { readonly projectId: string })[]> =>
  query(`${LOAD} and key.project_id = any($2::uuid[])`, [organizationId, projectIds]);

/** Adds the first key version of a scope. @returns false when the installation has another root key by now */
export async function insertKey(
  query: Query,
  { organizationId, projectId, organizationKeyId }: KeyScope,
  key: NewKey,
): Promise<boolean> {
  const inserted = await query(
    `with ${held('$6')}
     insert into data_key (id, organization_id, project_id, parent_key_id, wrapped_key_sealed, organization_key_id)
     select $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::bytea, $7::uuid
     where $6::bytea is null or exists (select from held) returning id`,
    [
      key.id,
      organizationId,
      projectId,
      key.parentKeyId,
      key.wrappedKeySealed,
      key.checkValue,
      organizationKeyId ?? null,
    ],
  );
  return inserted.length > 0;
}

/**
 * Counts seals before they are made. A key version ends at 2^30 seals or after 365 days of the database's clock.
 *
 * @returns the seconds that the version has left, or null when it has ended, is retired, or is not there
 */
export async function reserveSeals(query: Query, keyId: string, seals: number): Promise<number | null> {
  const [row] = await query<{ secondsLeft: number }>(
    `update data_key set seals_reserved = seals_reserved + $2::bigint
     where id = $1 and retired_at is null and seals_reserved + $2::bigint <= 1073741824
       and created_at > now() - interval '365 days'
     returning extract(epoch from created_at + interval '365 days' - now())::float8 as "secondsLeft"`,
    [keyId, seals],
  );
  return row?.secondsLeft ?? null;
}

/**
 * Retires a key version and adds the next one as one step. Of two nodes that try, the second changes nothing, nor does one that wraps
 * with a root key that the installation has no longer.
 */
export async function succeedKey(query: Query, retiredKeyId: string, next: NewKey): Promise<void> {
  await query(
    `with ${held('$5')}, retired as (
       update data_key set retired_at = now()
       where id = $1 and retired_at is null and ($5::bytea is null or exists (select from held))
       returning organization_id, project_id, organization_key_id
     )
     insert into data_key (id, organization_id, project_id, parent_key_id, wrapped_key_sealed, organization_key_id)
     select $2::uuid, organization_id, project_id, $3::uuid, $4::bytea, organization_key_id from retired`,
    [retiredKeyId, next.id, next.parentKeyId, next.wrappedKeySealed, next.checkValue],
  );
}

/** The organization key that wraps the keys of a project. */
export async function parentScopeOf(query: Query, { organizationId, projectId }: KeyScope): Promise<KeyScope> {
  const [parent] = await query<{ id: string | null }>(
    `select parent.organization_key_id as id from data_key key join data_key parent on parent.id = key.parent_key_id
     where key.organization_id = $1 and key.project_id = $2 order by key.created_at desc, key.id desc limit 1`,
    [organizationId, projectId],
  );
  const scope = { organizationId, projectId: null };
  return parent?.id == null ? scope : { ...scope, organizationKeyId: parent.id };
}

/** Names the first key of an organization as its default key. */
export async function insertDefaultKey(query: Query, organizationId: string, keyId: string): Promise<void> {
  await query(`insert into organization_key (id, organization_id, name, is_default) values ($1, $2, 'default', true)`, [
    keyId,
    organizationId,
  ]);
}

/** A key of a project, with what is needed to wrap it anew. */
export interface WrappedKey extends StoredKey {
  readonly projectId: string;
}

/**
 * The next keys of projects that are to be wrapped with another key, by ID.
 *
 * @param which those under an organization key, or those of a project, retired ones too
 */
export const keysToRewrap = (
  query: Query,
  { organizationId, organizationKeyId, projectId }: KeyScope,
  { parentKeyId, limit }: { readonly parentKeyId: string; readonly limit: number },
): Promise<WrappedKey[]> =>
  query<WrappedKey>(
    `${LOAD} and key.project_id is not null and key.parent_key_id <> $2::uuid and case when $3::uuid is null
       then parent.organization_key_id is not distinct from $4::uuid else key.project_id = $3::uuid end
     order by key.id limit $5::integer for update of key`,
    [organizationId, parentKeyId, projectId, organizationKeyId ?? null, limit],
  );

/** Stores keys as they are wrapped by another key. */
export async function storeRewrapped(
  query: Query,
  parentKeyId: string,
  keys: readonly { readonly id: string; readonly wrappedKeySealed: Buffer }[],
): Promise<void> {
  await query(
    `update data_key set parent_key_id = $1::uuid, wrapped_key_sealed = given.sealed
     from unnest($2::uuid[], $3::bytea[]) as given (id, sealed) where data_key.id = given.id`,
    [parentKeyId, keys.map(({ id }) => id), keys.map(({ wrappedKeySealed }) => wrappedKeySealed)],
  );
}

/** Stores what is left of retired keys of a project, in their place. */
export async function storeDestroyed(
  query: Query,
  parentKeyId: string,
  keys: readonly { readonly id: string; readonly wrappedKeySealed: Buffer }[],
): Promise<void> {
  await storeRewrapped(query, parentKeyId, keys);
  await query('update data_key set destroyed_at = now() where id = any($1::uuid[])', [keys.map(({ id }) => id)]);
}

/** Keys that seal at present, over all organizations. */
export interface KeyFigures {
  readonly inUse: number;
  readonly oldestSeconds: number;
  readonly mostSeals: number;
}

/** One statement over the table of keys, which has a row or a few for each project. */
export async function keyFigures(query: Query): Promise<KeyFigures> {
  const [row] = await query<KeyFigures>(
    `select count(*)::float8 as "inUse", coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldestSeconds",
            coalesce(max(seals_reserved), 0)::float8 as "mostSeals"
     from data_key where retired_at is null`,
  );
  return row as KeyFigures;
}
