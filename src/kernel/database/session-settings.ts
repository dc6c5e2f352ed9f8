import pg from 'pg';
import { TIME_LIMITS } from './time-limits.js';

/** Settings of a connection, in the form of its start (`-c name=value -c name=value`), as one statement that sets them. */
export function settingsStatement(options: string): string {
  const settings = options.split('-c ').flatMap((setting) => {
    const [name, value] = setting.trim().split('=');
    return name === undefined || value === undefined
      ? []
      : [`set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, false)`];
  });
  return `select ${settings.join(', ')}`;
}

/** Whether a connection was refused by a pooler that takes no settings at the start of one, such as PgBouncer. */
export function isRefusedByPooler(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (/unsupported startup parameter/.test(at.message)) return true;
  return false;
}

/** Whether connections have the settings that they were started with. A pooler may drop them without a word. */
export async function hasSettings(query: (text: string) => Promise<{ limit?: string }[]>): Promise<boolean> {
  const [row] = await query(`select setting as "limit" from pg_settings where name = 'lock_timeout'`);
  return Number(row?.limit) === TIME_LIMITS.lockMs;
}
