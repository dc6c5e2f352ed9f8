import type { KeyObject } from 'node:crypto';
import { readAddress } from '../addresses.js';
import type { Query } from '../database/database.js';
import type { Expiry, Seal } from './audit-chain.js';
import { type AuditFacts, type AuditRecord, macOf } from './audit-record.js';
import type { FoundRow, RepeatedRow } from './audit-verifier.js';
import { EXPIRES_ON } from './expires-on.js';

/** Each may be of some thousand rows. */
const SEALS_AT_ONCE = 100;
const MAX_REPEATS = 1_000;

interface Stored extends Omit<AuditRecord, 'facts'> {
  readonly sequence: string | null;
  readonly time: string;
  readonly expiresOn: string | null;
  readonly mac: Buffer;
  readonly facts: string;
  readonly isListed: boolean;
}

/** Whoever owns the tables can take their keys and their rules away: columns may be empty, and numbers be there twice. */
const ROWS = `
  select sequence, round(extract(epoch from occurred_at) * 1000)::text as time, coalesce(mac, '') as mac, ${EXPIRES_ON},
         id, organization_id as "organizationId", project_id as "projectId", action, outcome, actor_kind as "actorKind",
         actor_id as "actorId", token_id as "tokenId", request_id as "requestId", address::text as address,
         user_agent as "userAgent", coalesce(facts::text, 'null') as facts, encode(disclosed, 'hex') as disclosed,
         class, subject_id as "subjectId",
         coalesce(octet_length(disclosed), 0) <> 32 or exists (select from audit_disclosure d where d.digest = disclosed) as "isListed"
    from audit_record order by sequence`;

/**
 * All rows of the trail by rising sequence, a batch of them in memory at once.
 *
 * @param key of the row MACs
 * @param atOnce rows of a batch
 */
export async function* readRows(query: Query, key: KeyObject, atOnce: number): AsyncGenerator<FoundRow[]> {
  for await (const rows of readAll<Stored>(query, 'audit_rows', { statement: ROWS, atOnce }))
    yield rows.map((row) => ({
      sequence: BigInt(row.sequence ?? 0),
      id: row.id,
      occurredAt: row.time,
      expiresOn: row.expiresOn,
      mac: row.mac,
      isGenuine: row.sequence !== null && isGenuine(row, key),
      isListed: row.isListed,
    }));
}

/**
 * The rows of a statement in batches, each row once. Uses a database cursor: continuing above the last key of a batch would skip
 * rows to which a forger gave the same key, the lowest key, or none.
 *
 * @param query in a transaction
 */
async function* readAll<R extends object>(
  query: Query,
  cursor: string,
  { statement, atOnce }: { statement: string; atOnce: number },
): AsyncGenerator<R[]> {
  await query(`declare ${cursor} no scroll cursor for ${statement}`);
  const fetch = (): Promise<R[]> => query<R>(`fetch ${atOnce} from ${cursor}`);
  for (let next = fetch(); ; ) {
    const rows = await next;
    const isLast = rows.length < atOnce;
    if (!isLast) {
      // Postgres reads the next ones while these are checked.
      next = fetch();
      next.catch(() => undefined);
    }
    if (rows.length > 0) yield rows;
    if (isLast) return;
  }
}

function isGenuine(row: Stored, key: KeyObject): boolean {
  const record = recordOf(row);
  return record !== null && macOf(record, key).equals(row.mac);
}

/** The record as it was when the MAC was made; null for a row that no record makes. */
function recordOf({ address, facts, ...row }: Stored): AuditRecord | null {
  const given = parsed(facts) as AuditFacts | readonly unknown[] | string | null;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  return { ...row, address: address === null ? null : writtenAddress(address), facts: given as AuditFacts };
}

/** Numbers that JavaScript may write otherwise: with a fraction or an exponent, a negative zero, or of many digits. */
const UNUSUAL_NUMBER = /[\s:[,](?:-0|-?\d+[.eE]|-?\d{16})/;

/** A reviver is called for every value, which takes several times as long as to parse them. */
const parsed = (facts: string): unknown =>
  UNUSUAL_NUMBER.test(facts) ? JSON.parse(facts, inItsOwnSpelling) : JSON.parse(facts);

/** A number that was written otherwise than rows are made with, as `1.0`, is another one, though JavaScript takes it for `1`. */
const inItsOwnSpelling = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' && source !== undefined && source !== String(value) ? source : value;

/** A host without the mask of its network; an IPv6 address in the one spelling that rows are made with. */
function writtenAddress(address: string): string {
  if (!address.includes(':')) return address.replace(/\/32$/, '');
  const written = readAddress(address.replace(/\/128$/, ''));
  // An IPv4 address that is spelled as an IPv6 one was never written so.
  return written?.includes(':') ? written : address;
}

const SEALS = `
  select coalesce(number, 0) as number, coalesce(after_sequence, 0) as after, coalesce(last_sequence, 0) as last,
         round(extract(epoch from sealed_at) * 1000)::text as "sealedAt", coalesce(entries, '') as entries, expiries,
         coalesce(previous, '') as previous, coalesce(mac, '') as mac
    from audit_seal order by audit_seal.number`;

interface StoredSeal extends Pick<Seal, 'sealedAt' | 'entries' | 'expiries' | 'previous' | 'mac'> {
  readonly number: string;
  readonly after: string;
  readonly last: string;
}

/** All seals by rising number. */
export async function* readSeals(query: Query): AsyncGenerator<Seal> {
  for await (const seals of readAll<StoredSeal>(query, 'audit_seals', { statement: SEALS, atOnce: SEALS_AT_ONCE }))
    for (const seal of seals)
      yield { ...seal, number: BigInt(seal.number), after: BigInt(seal.after), last: BigInt(seal.last) };
}

const REPEATS = `
  select sequence, id, first from (
    select sequence, id, min(sequence) over copies as first, row_number() over copies as place from audit_record
     where id in (select id from audit_record group by id having count(*) > 1) and sequence is not null
    window copies as (partition by id order by sequence)
  ) copies where place > 1 order by sequence limit $1`;

/** Rows that have the id of an earlier one. */
export async function readRepeats(query: Query): Promise<RepeatedRow[]> {
  const rows = await query<{ sequence: string; id: string; first: string }>(REPEATS, [MAX_REPEATS]);
  return rows.map(({ sequence, id, first }) => ({ sequence: BigInt(sequence), id, first: BigInt(first) }));
}

const EDITED_LISTS = `
  select coalesce(encode(digest, 'hex'), '') as digest from audit_disclosure
   where (sha256(decode(replace(array_to_string(ids, ''), '-', ''), 'hex')) = digest) is not true order by digest limit $1`;

/** Digests of lists of disclosed ids that are not the lists of these digests. */
export async function readEditedLists(query: Query): Promise<string[]> {
  const rows = await query<{ digest: string }>(EDITED_LISTS, [MAX_REPEATS]);
  return rows.map(({ digest }) => digest);
}

const EXPIRIES = `
  select to_char(expires_on, 'YYYY-MM-DD') as "expiresOn", coalesce(rows, 0) as rows, coalesce(digest, '') as digest,
         round(extract(epoch from expired_at) * 1000)::text as "expiredAt", coalesce(mac, '') as mac
    from audit_expiry order by expires_on`;

/** Statements about the months whose rows were dropped. */
export async function readExpiries(query: Query): Promise<Expiry[]> {
  const expiries = await query<Omit<Expiry, 'rows'> & { rows: string }>(EXPIRIES);
  return expiries.map((expiry) => ({ ...expiry, rows: BigInt(expiry.rows) }));
}

/** Number of all rows. */
export async function countRows(query: Query): Promise<number> {
  const [counted] = await query<{ rows: string }>('select count(*) as rows from audit_record');
  return Number(counted?.rows ?? 0);
}
