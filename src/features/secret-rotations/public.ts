import type { Context } from '../../kernel/context.js';
import { findConnectionUses } from './rotation-view.sql.js';

/** Rotations that use connections, in one statement. */
export const listConnectionUses = (ctx: Context, connectionIds: readonly string[]) =>
  findConnectionUses(ctx, { connectionIds });
export { SEALED_ROTATIONS } from './store/sealing.js';
