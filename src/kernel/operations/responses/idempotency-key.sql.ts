import { sql } from 'kysely';
import { sqlStatement, t } from '../../database/statement.js';
import { prepared, tablesOf } from '../../database/tables.js';
import type { StoredIdempotencyKeySchema } from './idempotency-key.entity.js';

// Two changes in one statement, and a deletion that several nodes do at once.

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
      select id from idempotency_key where created_at < now() - interval '24 hours' order by created_at limit 10000 for update skip locked)`,
  params: {},
  row: {},
});

const tables = tablesOf<typeof StoredIdempotencyKeySchema>();

/** Past its day: any request may have it. */
const isOld = sql<boolean>`created_at < now() - interval '24 hours'`;
/** Its owner has had a minute and neither answered nor failed. */
const isStale = sql<boolean>`claimed_at < now() - interval '1 minute'`;

/** A key, as nobody but its token may use it. */
interface KeyOfToken {
  readonly tokenId: string;
  readonly keyHash: Buffer;
}

interface NewKey extends KeyOfToken {
  readonly id: string;
  readonly organizationId: string;
  readonly requestHash: Buffer;
  readonly requestId: string;
}

/** Claims a key that nobody has. */
export const insertKey = prepared((key: NewKey) =>
  tables
    .insertInto('idempotency_key')
    .values({
      id: key.id,
      organization_id: key.organizationId,
      token_id: key.tokenId,
      key_hash: key.keyHash,
      request_hash: key.requestHash,
      request_id: key.requestId,
    })
    .onConflict((known) => known.columns(['token_id', 'key_hash']).doNothing())
    .returning(['id', 'fence']),
);

/** What is known of a key. */
export const findKey = prepared(({ tokenId, keyHash }: KeyOfToken) =>
  tables
    .selectFrom('idempotency_key')
    .select(['id', 'fence', 'request_id as requestId', 'request_hash as requestHash', 'answer_sealed as answerSealed'])
    .select(['is_withheld as isWithheld', 'withheld_ids as withheldIds', isOld.as('isOld'), isStale.as('isStale')])
    .select(sql<boolean>`effective_at is not null`.as('isEffective'))
    .select(sql<boolean>`answered_at is not null`.as('isAnswered'))
    .where('token_id', '=', tokenId)
    .where('key_hash', '=', keyHash),
);

/** A key as one owner has it: an earlier one changes nothing any more. */
interface OwnedKey {
  readonly id: string;
  readonly fence: number;
}

const change = ({ id, fence }: OwnedKey) =>
  tables.updateTable('idempotency_key').where('id', '=', id).where('fence', '=', fence);

/** Takes over a key that is old, or whose owner went away before it took effect. No row when another request was faster. */
export const takeOverKey = prepared((key: OwnedKey & Pick<NewKey, 'requestHash' | 'requestId'>) =>
  change(key)
    .set({
      fence: sql`fence + 1`,
      claimed_at: sql`now()`,
      created_at: sql`now()`,
      request_hash: key.requestHash,
      request_id: key.requestId,
      effective_at: null,
      answered_at: null,
      answer_sealed: null,
      is_withheld: false,
      withheld_ids: sql`'{}'`,
    })
    .where(sql<boolean>`(${isOld} or (${isStale} and effective_at is null and answered_at is null))`)
    .returning(['id', 'fence']),
);

interface Withheld extends OwnedKey {
  readonly isWithheld: boolean;
}

/** The request takes effect with this transaction. No row when another one has taken the key over. */
export const markKeyEffective = prepared((key: Withheld & { withheldIds: readonly string[] }) =>
  change(key)
    .set({
      effective_at: sql`coalesce(effective_at, now())`,
      is_withheld: sql`is_withheld or ${key.isWithheld}`,
      withheld_ids: sql`withheld_ids || ${key.withheldIds}::uuid[]`,
    })
    .returning('id'),
);

/** The request is over and has its answer; null: it is withheld, or was lost. */
export const completeKey = prepared((key: Withheld & { answerSealed: Buffer | null }) =>
  change(key).set({
    answered_at: sql`now()`,
    answer_sealed: key.answerSealed,
    is_withheld: sql`is_withheld or ${key.isWithheld}`,
  }),
);
