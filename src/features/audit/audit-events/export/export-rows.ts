import type { Context } from '../../../../kernel/context.js';
import { type ExportedRow, exportEvents } from './export.sql.js';

/** So many are in memory at once, if they are short. */
export const ROWS_AT_ONCE = 500;
/** Facts of those, as they are stored. */
const MAX_BYTES = String(128 * 1024);

/** A position before all rows. */
export const BEFORE_ALL = String(Number.MIN_SAFE_INTEGER);

interface Asked {
  /** Null: of the whole organization. */
  readonly projectId: string | null;
  /** Number of the row before the first one. */
  readonly after: string;
  /** Rows above it may not be complete. */
  readonly settled: string;
  readonly most?: number;
}

/** Settled rows after a position, oldest first, and whether there are more. */
export async function readRows(
  ctx: Context,
  { projectId, after, settled, most = ROWS_AT_ONCE }: Asked,
): Promise<{ readonly rows: readonly ExportedRow[]; readonly isMore: boolean }> {
  const bounds = { after, settled, limit: String(most), bytes: MAX_BYTES };
  const list = exportEvents({ owner: projectId === null ? 'organization' : 'project' });
  const rows = await list(ctx, { organizationId: ctx.organizationId, projectId, ...bounds });
  const found = rows[0]?.found ?? 0;
  return { rows, isMore: found === most || rows.length < found };
}
