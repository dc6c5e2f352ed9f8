import type { Query } from '../database/database.js';

const SETTLED = `select coalesce((select last_sequence from audit_seal order by number desc limit 1), 0) as sequence`;

/**
 * How far the trail is settled: a row up to this sequence that is not there now never will be. Whoever reads the trail by
 * rising sequence, and no further than this, misses none. It follows the trail within about two seconds.
 */
export async function settledSequence(query: Query): Promise<bigint> {
  const [settled] = await query<{ sequence: string }>(SETTLED);
  return BigInt(settled?.sequence ?? 0);
}
