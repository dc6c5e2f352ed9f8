import type { KeyObject } from 'node:crypto';
import type { Query } from '../database/database.js';
import type { AuditChain } from './audit-chain.js';
import { readEditedLists, readExpiries, readRepeats, readRows, readSeals, trailLength } from './audit-reader.js';
import { type Anchor, AuditVerifier, type FoundRow, type TrailReport } from './audit-verifier.js';

/** What rows and seals are compared with. */
export interface TrailKeys {
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
