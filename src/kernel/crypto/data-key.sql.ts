import { sql } from 'kysely';
import { sqlStatement, t } from '../database/statement.js';
import { anyOf, prepared, tablesOf } from '../database/tables.js';
import type { DataKeySchema, OrganizationKeySchema } from './keys.entity.js';

// A lock on the root key, and what depends on it, in one statement; arrays of many columns; a union.

/** Waits for a change of the root key that is about to commit, and then looks again. */
const LOCKED = 'locked as (select 1 from installation where key_check_value = :checkValue for share)';

/** Adds the first version of a key. No row when the installation has another root key by now. */
export const insertDataKey = sqlStatement({
  text: `
    with ${LOCKED}
    insert into data_key (id, organization_id, project_id, parent_key_id, wrapped_key_sealed, organization_key_id)
    select :id::uuid, :organizationId::uuid, :projectId::uuid, :parentKeyId::uuid, :wrappedKeySealed::bytea, :organizationKeyId::uuid
    where :checkValue::bytea is null or exists (select from locked) returning id`,
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
    with ${LOCKED}, retired as (
      update data_key set retired_at = now()
      where id = :retiredKeyId and retired_at is null and (:checkValue::bytea is null or exists (select from locked))
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

/** Stores keys as another key wraps them, or what is left of destroyed ones. `parentKeyId`: null for the root key. */
export const storeWrapped = sqlStatement({
  text: `
    update data_key set parent_key_id = :parentKeyId::uuid, wrapped_key_sealed = given.sealed,
      destroyed_at = case when :areDestroyed::boolean then now() else destroyed_at end
    from unnest(:ids::uuid[], :sealed::bytea[]) as given (id, sealed) where data_key.id = given.id`,
  params: { parentKeyId: t.nullable(t.uuid), ids: t.array(t.uuid), sealed: t.array(t.bytea), areDestroyed: t.boolean },
  row: {},
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

const tables = tablesOf<typeof DataKeySchema | typeof OrganizationKeySchema>();

const keys = tables
  .selectFrom('data_key as key')
  .leftJoin('data_key as parent', (join) =>
    join
      .onRef('parent.id', '=', 'key.parent_key_id')
      .onRef('parent.organization_id', '=', 'key.organization_id')
      .on('parent.project_id', 'is', null),
  )
  .select([
    'key.id',
    'key.project_id as projectId',
    'key.wrapped_key_sealed as wrappedKeySealed',
    /** `null`: wrapped by the root key. */
    'key.parent_key_id as parentKeyId',
    'parent.wrapped_key_sealed as parentWrappedKeySealed',
    /** Seconds of the database's clock. */
    sql<number>`extract(epoch from key.created_at)::float8`.as('createdAt'),
    sql<boolean>`key.retired_at is not null`.as('isRetired'),
    /** Only the keys of its digests are left of it: see `destroyedKey`. */
    sql<boolean>`key.destroyed_at is not null`.as('isDestroyed'),
  ]);

interface OfOrganization {
  readonly organizationId: string;
  readonly organizationKeyId: string | null;
}

/** All versions of a key of an organization, retired ones too. */
export const listOrganizationKeys = prepared(({ organizationId, organizationKeyId }: OfOrganization) =>
  keys
    .where('key.organization_id', '=', organizationId)
    .where('key.project_id', 'is', null)
    .where('key.organization_key_id', 'is not distinct from', organizationKeyId),
);

/** All versions of the keys of projects of one organization, retired ones too. */
export const listProjectKeys = prepared((of: { organizationId: string; projectIds: readonly string[] }) =>
  keys.where('key.organization_id', '=', of.organizationId).where('key.project_id', '=', anyOf(of.projectIds)),
);

interface ToRewrap extends OfOrganization {
  readonly parentKeyId: string;
  /** Its keys; null: those under the organization key. */
  readonly projectId: string | null;
  readonly limit: number;
}

/** The next keys of projects that another key is to wrap, by ID. */
export const lockKeysToRewrap = prepared((which: ToRewrap) =>
  keys
    .where('key.organization_id', '=', which.organizationId)
    .where('key.project_id', 'is not', null)
    .where('key.parent_key_id', '<>', which.parentKeyId)
    .where(
      sql<boolean>`case when ${which.projectId}::uuid is null
        then parent.organization_key_id is not distinct from ${which.organizationKeyId}::uuid
        else key.project_id = ${which.projectId}::uuid end`,
    )
    .orderBy('key.id')
    .limit(which.limit)
    .forUpdate('key'),
);

/** Counts seals before they are made. A version ends at 2^30 seals or after 365 days of the database's clock: then there is no row. */
export const reserveKeySeals = prepared(({ keyId, seals }: { keyId: string; seals: string }) =>
  tables
    .updateTable('data_key')
    .set({ seals_reserved: sql`seals_reserved + ${seals}::bigint` })
    .where('id', '=', keyId)
    .where('retired_at', 'is', null)
    .where(sql<boolean>`seals_reserved + ${seals}::bigint <= 1073741824 and created_at > now() - interval '365 days'`)
    .returning(sql<number>`extract(epoch from created_at + interval '365 days' - now())::float8`.as('secondsLeft')),
);

/** The key of the organization that wraps the newest key of a project; null: the default one. */
export const findParentKey = prepared((of: { organizationId: string; projectId: string | null }) =>
  tables
    .selectFrom('data_key as key')
    .innerJoin('data_key as parent', 'parent.id', 'key.parent_key_id')
    .select('parent.organization_key_id as organizationKeyId')
    .where('key.organization_id', '=', of.organizationId)
    .where('key.project_id', '=', of.projectId)
    .orderBy('key.created_at', 'desc')
    .orderBy('key.id', 'desc')
    .limit(1),
);

/** Names the first key of an organization as its default key. */
export const insertDefaultKey = prepared(({ id, organizationId }: { id: string; organizationId: string }) =>
  tables
    .insertInto('organization_key')
    .values({ id, organization_id: organizationId, name: 'default', is_default: true }),
);

/** Keys that seal at present, over all organizations: the table has a row or a few for each project. */
export const measureKeys = prepared(() =>
  tables
    .selectFrom('data_key')
    .select([
      sql<number>`count(*)::float8`.as('inUse'),
      sql<number>`coalesce(extract(epoch from now() - min(created_at)), 0)::float8`.as('oldestSeconds'),
      sql<number>`coalesce(max(seals_reserved), 0)::float8`.as('mostSeals'),
    ])
    .where('retired_at', 'is', null),
);

/** The next keys that the root key wraps, by ID. */
export const lockKeysUnderRoot = prepared(({ after, limit }: { after: string; limit: number }) =>
  tables
    .selectFrom('data_key')
    .select(['id', 'organization_id as organizationId', 'wrapped_key_sealed as wrappedKeySealed'])
    .where('parent_key_id', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .forUpdate(),
);

/** Whether there is any key. */
export const findAnyKey = prepared(() => tables.selectFrom('data_key').select('id').orderBy('id').limit(1));
