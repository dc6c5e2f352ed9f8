import type { Query } from '../database/database.js';
import { findSealedSequence } from './audit-seal.sql.js';

/**
 * How far the trail is settled: a row up to this sequence that is not there now never will be. Whoever reads the trail by
 * rising sequence, and no further than this, misses none. It follows the trail within about two seconds.
 */
export async function settledSequence(query: Query): Promise<bigint> {
  const [settled] = await findSealedSequence(query, {});
  return BigInt(settled?.sequence ?? 0);
}
