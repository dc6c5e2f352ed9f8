import type { Context } from '../../../kernel/context.js';
import { EXPORT_ALL, EXPORT_PROJECT, type ExportedRow } from './export.sql.js';

/** So many are in memory at once. */
export const ROWS_AT_ONCE = 500;

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

/** Settled rows after a position, oldest first. */
export function readRows(
  ctx: Context,
  { projectId, after, settled, most = ROWS_AT_ONCE }: Asked,
): Promise<ExportedRow[]> {
  const bounds = { organizationId: ctx.organizationId, after, settled, limit: String(most) };
  return projectId === null ? EXPORT_ALL(ctx, bounds) : EXPORT_PROJECT(ctx, { ...bounds, projectId });
}
