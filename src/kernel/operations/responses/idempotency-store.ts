import type { Query } from '../../database/database.js';
import { newId } from '../../ids.js';
import { Claim } from './claim.js';

/** Where a key belongs: keys of two tokens never meet. */
export interface KeyPlace {
  readonly organizationId: string;
  readonly tokenId: string;
  readonly keyHash: Buffer;
}

/** What a request with a key is, and which request it was. */
export interface KeyedRequest extends KeyPlace {
  readonly requestHash: Buffer;
  readonly requestId: string;
}

/** A key that somebody has claimed before. */
export interface FoundKey {
  readonly id: string;
  readonly fence: number;
  readonly requestId: string;
  readonly requestHash: Buffer;
  readonly answerSealed: Buffer | null;
  readonly isWithheld: boolean;
  readonly withheldIds: readonly string[];
  /** Past its day: any request may have it. */
  readonly isOld: boolean;
  /** Its owner has had a minute and neither answered nor failed. */
  readonly isStale: boolean;
  readonly isEffective: boolean;
  readonly isAnswered: boolean;
}

const IS_OLD = `created_at < now() - interval '24 hours'`;
const IS_STALE = `claimed_at < now() - interval '1 minute'`;

/** Several nodes may sweep at once: each others. */
const SWEEP = `delete from idempotency_key where id in (
    select id from idempotency_key where ${IS_OLD} order by created_at limit 10000 for update skip locked)`;

const CLAIM = `insert into idempotency_key (id, organization_id, token_id, key_hash, request_hash, request_id)
  values ($1, $2, $3, $4, $5, $6) on conflict (token_id, key_hash) do nothing returning id, fence`;

const FIND = `select id, fence, request_id as "requestId", request_hash as "requestHash", answer_sealed as "answerSealed",
    is_withheld as "isWithheld", withheld_ids as "withheldIds", ${IS_OLD} as "isOld", ${IS_STALE} as "isStale",
    effective_at is not null as "isEffective", answered_at is not null as "isAnswered"
  from idempotency_key where token_id = $1 and key_hash = $2`;

const TAKE_OVER = `update idempotency_key set fence = fence + 1, claimed_at = now(), created_at = now(), request_hash = $3,
    request_id = $4, effective_at = null, answered_at = null, answer_sealed = null, is_withheld = false, withheld_ids = '{}'
  where id = $1 and fence = $2 and (${IS_OLD} or (${IS_STALE} and effective_at is null and answered_at is null))
  returning id, fence`;

const COMPLETE = `update idempotency_key set answered_at = now(), answer_sealed = $3, is_withheld = is_withheld or $4
  where id = $1 and fence = $2`;

/** A key whose request had no effect is free again; one whose request had, and failed afterwards, has lost its answer. */
const RELEASE = `with released as (delete from idempotency_key where id = $1 and fence = $2 and effective_at is null)
  update idempotency_key set answered_at = now()
  where id = $1 and fence = $2 and effective_at is not null and answered_at is null`;

/** Deletes keys past their day. */
export async function sweepOldKeys(query: Query): Promise<void> {
  await query(SWEEP);
}

const claimOf = ([row]: { id: string; fence: number }[]): Claim | null =>
  row === undefined ? null : new Claim(row.id, row.fence);

/** Claims a key that nobody has. @returns null when somebody does */
export const claimKey = async (query: Query, request: KeyedRequest): Promise<Claim | null> =>
  claimOf(
    await query(CLAIM, [
      newId(),
      request.organizationId,
      request.tokenId,
      request.keyHash,
      request.requestHash,
      request.requestId,
    ]),
  );

/** What is known of a key. */
export async function findKey(query: Query, { tokenId, keyHash }: KeyPlace): Promise<FoundKey | undefined> {
  const [found] = await query<FoundKey>(FIND, [tokenId, keyHash]);
  return found;
}

/** Takes over a key that is old, or whose owner went away before it took effect. @returns null when another was faster */
export const takeOver = async (query: Query, { id, fence }: FoundKey, request: KeyedRequest): Promise<Claim | null> =>
  claimOf(await query(TAKE_OVER, [id, fence, request.requestHash, request.requestId]));

/** The request is over and has its answer. @param answerSealed null: it is withheld, or was lost */
export async function completeKey(query: Query, claim: Claim, answerSealed: Buffer | null): Promise<void> {
  await query(COMPLETE, [claim.id, claim.fence, answerSealed, claim.isWithheld]);
}

/** The request has failed. */
export async function releaseKey(query: Query, { id, fence }: Claim): Promise<void> {
  await query(RELEASE, [id, fence]);
}
