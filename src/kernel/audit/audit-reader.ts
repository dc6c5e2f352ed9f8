import type { Query } from '../database/database.js';
import { readAddress } from '../http/addresses.js';
import type { Seal } from './audit-chain.js';
import { type AuditFacts, type AuditRecord, macOf } from './audit-record.js';
import type { FoundRow, RepeatedRow } from './audit-verifier.js';

const ROWS_AT_ONCE = 5_000;
const SEALS_AT_ONCE = 20;
const MAX_REPEATS = 1_000;

/** Below every sequence, those that only a forger gives out too. */
const BEFORE_ALL = String(-(2n ** 63n));

type Stored = Omit<AuditRecord, 'facts'> & { sequence: string; time: string; mac: Buffer; facts: string };

const ROWS = `
  select sequence, round(extract(epoch from occurred_at) * 1000)::text as time, mac,
         id, organization_id as "organizationId", project_id as "projectId", action, outcome, actor_kind as "actorKind",
         actor_id as "actorId", token_id as "tokenId", request_id as "requestId", address::text as address,
         user_agent as "userAgent", facts::text as facts
    from audit_record where sequence > $1 order by sequence limit $2`;

/** All rows of the trail by rising sequence, a batch of them in memory at once. @param key of the row MACs */
export async function* readRows(query: Query, key: Buffer): AsyncGenerator<FoundRow[]> {
  let after = BEFORE_ALL;
  for (;;) {
    const rows = await query<Stored>(ROWS, [after, ROWS_AT_ONCE]);
    yield rows.map((row) => ({
      sequence: BigInt(row.sequence),
      id: row.id,
      occurredAt: row.time,
      mac: row.mac,
      isGenuine: macOf(recordOf(row), key).equals(row.mac),
    }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return;
    after = last.sequence;
  }
}

/** The record as it was when the MAC was made. */
function recordOf({ address, facts, ...row }: Stored): AuditRecord {
  return {
    ...row,
    // A host without the mask of its network; an IPv6 address in the one spelling that rows are made with.
    address: address?.includes(':')
      ? readAddress(address.replace(/\/128$/, ''))
      : (address?.replace(/\/32$/, '') ?? null),
    facts: JSON.parse(facts) as AuditFacts,
  };
}

const SEALS = `
  select number, after_sequence as after, last_sequence as last,
         round(extract(epoch from sealed_at) * 1000)::text as "sealedAt", entries, previous, mac
    from audit_seal where number > $1 order by number limit $2`;

interface StoredSeal extends Pick<Seal, 'sealedAt' | 'entries' | 'previous' | 'mac'> {
  readonly number: string;
  readonly after: string;
  readonly last: string;
}

/** All seals by rising number. */
export async function* readSeals(query: Query): AsyncGenerator<Seal> {
  let above = BEFORE_ALL;
  for (;;) {
    const seals = await query<StoredSeal>(SEALS, [above, SEALS_AT_ONCE]);
    for (const seal of seals)
      yield { ...seal, number: BigInt(seal.number), after: BigInt(seal.after), last: BigInt(seal.last) };
    const last = seals.at(-1);
    if (last === undefined || seals.length < SEALS_AT_ONCE) return;
    above = last.number;
  }
}

const REPEATS = `
  select sequence, id, first from (
    select sequence, id, min(sequence) over (partition by id) as first from audit_record
     where id in (select id from audit_record group by id having count(*) > 1)
  ) copies where sequence > first order by sequence limit $1`;

/** Rows that have the id of an earlier one. */
export async function readRepeats(query: Query): Promise<RepeatedRow[]> {
  const rows = await query<{ sequence: string; id: string; first: string }>(REPEATS, [MAX_REPEATS]);
  return rows.map(({ sequence, id, first }) => ({ sequence: BigInt(sequence), id, first: BigInt(first) }));
}
