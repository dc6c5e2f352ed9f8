import { sqlStatement, t } from '../../database/statement.js';

const IS_OLD = `created_at < now() - interval '24 hours'`;
const IS_STALE = `claimed_at < now() - interval '1 minute'`;

/** Claims a key that nobody has. */
export const insertKey = sqlStatement({
  text: `
    insert into idempotency_key (id, organization_id, token_id, key_hash, request_hash, request_id)
    values (:id, :organizationId, :tokenId, :keyHash, :requestHash, :requestId) on conflict (token_id, key_hash) do nothing
    returning id, fence`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    tokenId: t.uuid,
    keyHash: t.bytea,
    requestHash: t.bytea,
    requestId: t.uuid,
  },
  row: { id: t.uuid, fence: t.integer },
});

/** What is known of a key. */
export const findKey = sqlStatement({
  text: `
    select id, fence, request_id as "requestId", request_hash as "requestHash", answer_sealed as "answerSealed",
      is_withheld as "isWithheld", withheld_ids as "withheldIds", ${IS_OLD} as "isOld", ${IS_STALE} as "isStale",
      effective_at is not null as "isEffective", answered_at is not null as "isAnswered"
    from idempotency_key where token_id = :tokenId and key_hash = :keyHash`,
  params: { tokenId: t.uuid, keyHash: t.bytea },
  row: {
    id: t.uuid,
    fence: t.integer,
    requestId: t.uuid,
    requestHash: t.bytea,
    answerSealed: t.nullable(t.bytea),
    isWithheld: t.boolean,
    withheldIds: t.array(t.uuid),
    /** Past its day: any request may have it. */
    isOld: t.boolean,
    /** Its owner has had a minute and neither answered nor failed. */
    isStale: t.boolean,
    isEffective: t.boolean,
    isAnswered: t.boolean,
  },
});

/** Takes over a key that is old, or whose owner went away before it took effect. No row when another request was faster. */
export const takeOverKey = sqlStatement({
  text: `
    update idempotency_key set fence = fence + 1, claimed_at = now(), created_at = now(), request_hash = :requestHash,
      request_id = :requestId, effective_at = null, answered_at = null, answer_sealed = null, is_withheld = false, withheld_ids = '{}'
    where id = :id and fence = :fence and (${IS_OLD} or (${IS_STALE} and effective_at is null and answered_at is null))
    returning id, fence`,
  params: { requestHash: t.bytea, requestId: t.uuid, id: t.uuid, fence: t.integer },
  row: { id: t.uuid, fence: t.integer },
});

/** The request takes effect with this transaction. No row when another one has taken the key over. */
export const markKeyEffective = sqlStatement({
  text: `
    update idempotency_key set effective_at = coalesce(effective_at, now()),
      is_withheld = is_withheld or :isWithheld, withheld_ids = withheld_ids || :withheldIds::uuid[]
    where id = :id and fence = :fence returning id`,
  params: { isWithheld: t.boolean, withheldIds: t.array(t.uuid), id: t.uuid, fence: t.integer },
  row: { id: t.uuid },
});

/** The request is over and has its answer; null: it is withheld, or was lost. */
export const completeKey = sqlStatement({
  text: `
    update idempotency_key set answered_at = now(), answer_sealed = :answerSealed, is_withheld = is_withheld or :isWithheld
    where id = :id and fence = :fence`,
  params: { answerSealed: t.nullable(t.bytea), isWithheld: t.boolean, id: t.uuid, fence: t.integer },
  row: {},
});

/** The request has failed: a key without effect is free again; one whose request had effect has lost its answer. */
export const releaseKey = sqlStatement({
  text: `
    with released as (delete from idempotency_key where id = :id and fence = :fence and effective_at is null)
    update idempotency_key set answered_at = now()
    where id = :id and fence = :fence and effective_at is not null and answered_at is null`,
  params: { id: t.uuid, fence: t.integer },
  row: {},
});

/** Deletes keys past their day. Several nodes may do it at once: each others. */
export const deleteOldKeys = sqlStatement({
  text: `
    delete from idempotency_key where id in (
      select id from idempotency_key where ${IS_OLD} order by created_at limit 10000 for update skip locked)`,
  params: {},
  row: {},
});
