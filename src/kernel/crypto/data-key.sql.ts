import { sqlStatement, t } from '../database/statement.js';

const KEYS = `
  select key.id, key.project_id as "projectId", key.wrapped_key_sealed as "wrappedKeySealed", key.parent_key_id as "parentKeyId",
    parent.wrapped_key_sealed as "parentWrappedKeySealed",
    extract(epoch from key.created_at)::float8 as "createdAt", key.retired_at is not null as "isRetired",
    key.destroyed_at is not null as "isDestroyed"
  from data_key key
  left join data_key parent
    on parent.id = key.parent_key_id and parent.organization_id = key.organization_id and parent.project_id is null
  where key.organization_id = :organizationId`;

const KEY = {
  id: t.uuid,
  projectId: t.nullable(t.uuid),
  wrappedKeySealed: t.bytea,
  /** `null`: wrapped by the root key. */
  parentKeyId: t.nullable(t.uuid),
  parentWrappedKeySealed: t.nullable(t.bytea),
  /** Seconds of the database's clock. */
  createdAt: t.double,
  isRetired: t.boolean,
  /** Only the keys of its digests are left of it: see `destroyedKey`. */
  isDestroyed: t.boolean,
};

/** All versions of a key of an organization, retired ones too. */
export const listOrganizationKeys = sqlStatement({
  text: `${KEYS} and key.project_id is null and key.organization_key_id is not distinct from :organizationKeyId::uuid`,
  params: { organizationId: t.uuid, organizationKeyId: t.nullable(t.uuid) },
  row: KEY,
});

/** All versions of the key of a project, retired ones too. */
export const listProjectKeys = sqlStatement({
  text: `${KEYS} and key.project_id = :projectId`,
  params: { organizationId: t.uuid, projectId: t.uuid },
  row: KEY,
});

/** The same of many projects of one organization. */
export const listKeysOfProjects = sqlStatement({
  text: `${KEYS} and key.project_id = any(:projectIds::uuid[])`,
  params: { organizationId: t.uuid, projectIds: t.array(t.uuid) },
  row: KEY,
});

/** The next keys of projects that another key is to wrap, by ID: those under an organization key, or those of a project. */
export const lockKeysToRewrap = sqlStatement({
  text: `${KEYS} and key.project_id is not null and key.parent_key_id <> :parentKeyId::uuid and case when :projectId::uuid is null
      then parent.organization_key_id is not distinct from :organizationKeyId::uuid else key.project_id = :projectId::uuid end
    order by key.id limit :limit::integer for update of key`,
  params: {
    organizationId: t.uuid,
    parentKeyId: t.uuid,
    projectId: t.nullable(t.uuid),
    organizationKeyId: t.nullable(t.uuid),
    limit: t.integer,
  },
  row: KEY,
});

/** Waits for a change of the root key that is about to commit, and then looks again. */
const HELD = 'held as (select 1 from installation where key_check_value = :checkValue for share)';

/** Adds the first version of a key. No row when the installation has another root key by now. */
export const insertDataKey = sqlStatement({
  text: `
    with ${HELD}
    insert into data_key (id, organization_id, project_id, parent_key_id, wrapped_key_sealed, organization_key_id)
    select :id::uuid, :organizationId::uuid, :projectId::uuid, :parentKeyId::uuid, :wrappedKeySealed::bytea, :organizationKeyId::uuid
    where :checkValue::bytea is null or exists (select from held) returning id`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    parentKeyId: t.nullable(t.uuid),
    wrappedKeySealed: t.bytea,
    checkValue: t.nullable(t.bytea),
    organizationKeyId: t.nullable(t.uuid),
  },
  row: { id: t.uuid },
});

/**
 * Retires a key version and adds the next one as one step. Of two nodes that try, the second changes nothing, nor does one that wraps
 * with a root key that the installation has no longer.
 */
export const succeedKey = sqlStatement({
  text: `
    with ${HELD}, retired as (
      update data_key set retired_at = now()
      where id = :retiredKeyId and retired_at is null and (:checkValue::bytea is null or exists (select from held))
      returning organization_id, project_id, organization_key_id
    )
    insert into data_key (id, organization_id, project_id, parent_key_id, wrapped_key_sealed, organization_key_id)
    select :id::uuid, organization_id, project_id, :parentKeyId::uuid, :wrappedKeySealed::bytea, organization_key_id from retired`,
  params: {
    retiredKeyId: t.uuid,
    id: t.uuid,
    parentKeyId: t.nullable(t.uuid),
    wrappedKeySealed: t.bytea,
    checkValue: t.nullable(t.bytea),
  },
  row: {},
});

/** Counts seals before they are made. A version ends at 2^30 seals or after 365 days of the database's clock: then there is no row. */
export const reserveKeySeals = sqlStatement({
  text: `
    update data_key set seals_reserved = seals_reserved + :seals::bigint
    where id = :keyId and retired_at is null and seals_reserved + :seals::bigint <= 1073741824
      and created_at > now() - interval '365 days'
    returning extract(epoch from created_at + interval '365 days' - now())::float8 as "secondsLeft"`,
  params: { keyId: t.uuid, seals: t.bigint },
  row: { secondsLeft: t.double },
});

/** The key of the organization that wraps the newest key of a project; null: the default one. */
export const findParentKey = sqlStatement({
  text: `
    select parent.organization_key_id as "organizationKeyId" from data_key key join data_key parent on parent.id = key.parent_key_id
    where key.organization_id = :organizationId and key.project_id = :projectId order by key.created_at desc, key.id desc limit 1`,
  params: { organizationId: t.uuid, projectId: t.nullable(t.uuid) },
  row: { organizationKeyId: t.nullable(t.uuid) },
});

/** Names the first key of an organization as its default key. */
export const insertDefaultKey = sqlStatement({
  text: `insert into organization_key (id, organization_id, name, is_default) values (:keyId, :organizationId, 'default', true)`,
  params: { keyId: t.uuid, organizationId: t.uuid },
  row: {},
});

/** Stores keys as they are wrapped by another key. */
export const storeWrapped = sqlStatement({
  text: `
    update data_key set parent_key_id = :parentKeyId::uuid, wrapped_key_sealed = given.sealed
    from unnest(:ids::uuid[], :sealed::bytea[]) as given (id, sealed) where data_key.id = given.id`,
  params: { parentKeyId: t.uuid, ids: t.array(t.uuid), sealed: t.array(t.bytea) },
  row: {},
});

/** Notes that only the keys of their digests are left of keys. */
export const markDestroyed = sqlStatement({
  text: 'update data_key set destroyed_at = now() where id = any(:ids::uuid[])',
  params: { ids: t.array(t.uuid) },
  row: {},
});

/** Keys that seal at present, over all organizations: the table has a row or a few for each project. */
export const measureKeys = sqlStatement({
  text: `
    select count(*)::float8 as "inUse", coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldestSeconds",
      coalesce(max(seals_reserved), 0)::float8 as "mostSeals"
    from data_key where retired_at is null`,
  params: {},
  row: { inUse: t.double, oldestSeconds: t.double, mostSeals: t.double },
});

/**
 * Projects whose key is disabled, and keys of projects that were retired or destroyed recently: a node asks for a key again within the
 * hour anyway, before it seals more with it than it has counted.
 */
export const listChangedKeys = sqlStatement({
  text: `
    select distinct key.project_id as id, 'disabled' as change
    from organization_key k
    join data_key parent on parent.organization_key_id = k.id
    join data_key key on key.parent_key_id = parent.id and key.organization_id = k.organization_id
    where k.disabled_at is not null and key.project_id is not null
    union all
    select id, case when destroyed_at is null then 'retired' else 'destroyed' end from data_key
    where project_id is not null and retired_at is not null and greatest(retired_at, destroyed_at) > now() - interval '70 minutes'`,
  params: {},
  row: { id: t.uuid, change: t.oneOf('disabled', 'retired', 'destroyed') },
});

/** The next keys that the root key wraps, by ID. */
export const lockKeysUnderRoot = sqlStatement({
  text: `
    select id, organization_id as "organizationId", wrapped_key_sealed as "wrappedKeySealed" from data_key
    where parent_key_id is null and id::text > :after order by id::text limit :limit::integer for update`,
  params: { after: t.text, limit: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, wrappedKeySealed: t.bytea },
});

/** Stores keys as another root key wraps them. */
export const storeUnderRoot = sqlStatement({
  text: `
    update data_key set wrapped_key_sealed = given.sealed
    from unnest(:ids::uuid[], :sealed::bytea[]) as given (id, sealed) where data_key.id = given.id`,
  params: { ids: t.array(t.uuid), sealed: t.array(t.bytea) },
  row: {},
});

/** Whether there is any key. */
export const findAnyKey = sqlStatement({
  text: 'select id from data_key limit 1',
  params: {},
  row: { id: t.uuid },
  isOfOwner: true,
});
