// A lock on the root key, and what depends on it, in one statement; arrays of many columns; a union.
import { sqlStatement, t } from '../database/statement.js';

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
