import { FIND_LOCK_TIMEOUT } from './session.sql.js';
import { TIME_LIMITS } from './time-limits.js';

/** Whether a connection was refused by a pooler that takes no settings at the start of one, such as PgBouncer. */
export function isRefusedByPooler(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (/unsupported startup parameter/.test(at.message)) return true;
  return false;
}

/** Whether connections have the settings that they were started with. A pooler may drop them without a word. */
export async function hasSettings(query: (text: string) => Promise<{ limit?: string }[]>): Promise<boolean> {
  const [row] = await query(FIND_LOCK_TIMEOUT);
  return Number(row?.limit) === TIME_LIMITS.lockMs;
}
