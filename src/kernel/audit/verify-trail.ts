import type { KeyObject } from 'node:crypto';
import { readAddress } from '../addresses.js';
import type { Query } from '../database/database.js';
import { declareCursor, fetchFrom } from '../database/session.sql.js';
import type { RowFrom, Statement } from '../database/statement.js';
import type { AuditChain, Expiry, Seal } from './audit-chain.js';
import { type AuditFacts, type AuditRecord, macOf } from './audit-record.js';
import { countRows, listDuplicateRows, listEditedLists, listExpiries, listRows, listSeals } from './audit-trail.sql.js';
import { type Anchor, AuditVerifier, type FoundRow, type RepeatedRow, type TrailReport } from './audit-verifier.js';

/** What rows and seals are compared with. */
interface TrailKeys {
  readonly chain: AuditChain;
  /** Of the row MACs. */
  readonly key: KeyObject;
}

/** How a trail is verified. */
export interface Verification {
  readonly anchors: readonly Anchor[];
  /** So many violations are listed. */
  readonly maxFaults: number;
  /** Rows that are in memory, and checked without a pause. */
  readonly rowsAtOnce: number;
  /** Hears how far it is: rows that were looked at, and all. */
  readonly onProgress?: (checked: number, total: number) => Promise<void>;
}

/** Walks the whole trail. @param read in a transaction, of `inSnapshot` */
export async function verifyTrail(
  read: Query,
  { chain, key }: TrailKeys,
  { anchors, maxFaults, rowsAtOnce, onProgress }: Verification,
): Promise<TrailReport> {
  const query = oneAtATime(read);
  const total = onProgress === undefined ? 0 : await trailLength(query);
  await onProgress?.(0, total);
  const verifier = new AuditVerifier(chain, maxFaults);
  const repeats = await readRepeats(query);
  const editedLists = await readEditedLists(query);
  const expiries = await readExpiries(query);
  async function* rows(): AsyncGenerator<readonly FoundRow[]> {
    let checked = 0;
    for await (const batch of readRows(query, key, rowsAtOnce)) {
      yield batch;
      checked += batch.length;
      await onProgress?.(checked, total);
    }
  }
  // Rows and seals share one connection.
  return verifier.verify({ rows: rows(), seals: readSeals(query), repeats, editedLists, expiries }, anchors);
}

/** Statements of a connection, each sent when the one before has ended. */
function oneAtATime(query: Query): Query {
  let last: Promise<unknown> = Promise.resolve();
  return <R extends object>(text: string, params?: readonly unknown[]): Promise<R[]> => {
    const result = last.then(() => query<R>(text, params));
    last = result.catch(() => undefined);
    return result;
  };
}

/** Each may be of some thousand rows. */
const SEALS_AT_ONCE = 100;
const MAX_REPEATS = 1_000;

type StoredRow = RowFrom<typeof listRows>;

/**
 * All rows of the trail by rising sequence, a batch of them in memory at once.
 *
 * @param key of the row MACs
 * @param atOnce rows of a batch
 */
async function* readRows(query: Query, key: KeyObject, atOnce: number): AsyncGenerator<FoundRow[]> {
  for await (const rows of readAll(query, 'audit_rows', { statement: listRows, atOnce }))
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
  { statement, atOnce }: { statement: Statement<Record<string, never>, R>; atOnce: number },
): AsyncGenerator<R[]> {
  await query(declareCursor(cursor, statement.text));
  const fetch = (): Promise<R[]> => query<R>(fetchFrom(cursor, atOnce));
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

function isGenuine(row: StoredRow, key: KeyObject): boolean {
  const record = recordOf(row);
  return record !== null && macOf(record, key).equals(row.mac);
}

/** The record as it was when the MAC was made; null for a row that no record makes. */
function recordOf({ address, facts, ...row }: StoredRow): AuditRecord | null {
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

/** All seals by rising number. */
async function* readSeals(query: Query): AsyncGenerator<Seal> {
  for await (const seals of readAll(query, 'audit_seals', { statement: listSeals, atOnce: SEALS_AT_ONCE }))
    for (const seal of seals)
      yield { ...seal, number: BigInt(seal.number), after: BigInt(seal.after), last: BigInt(seal.last) };
}

/** Rows that have the id of an earlier one. */
async function readRepeats(query: Query): Promise<RepeatedRow[]> {
  const rows = await listDuplicateRows(query, { limit: MAX_REPEATS });
  return rows.map(({ sequence, id, first }) => ({ sequence: BigInt(sequence), id, first: BigInt(first) }));
}

/** Digests of lists of disclosed ids that are not the lists of these digests. */
async function readEditedLists(query: Query): Promise<string[]> {
  const rows = await listEditedLists(query, { limit: MAX_REPEATS });
  return rows.map(({ digest }) => digest);
}

/** Statements about the months whose rows were dropped. */
async function readExpiries(query: Query): Promise<Expiry[]> {
  const expiries = await listExpiries(query, {});
  return expiries.map((expiry) => ({ ...expiry, rows: BigInt(expiry.rows) }));
}

/** Number of all rows. */
async function trailLength(query: Query): Promise<number> {
  const [counted] = await countRows(query, {});
  return Number(counted?.rows ?? 0);
}
