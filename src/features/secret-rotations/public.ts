import type { Context } from '../../kernel/context.js';
import { findConnectionHolds, findConnectionUses } from './rotation-view.sql.js';

/** Rotations that use connections, in one statement. */
export const listConnectionUses = (ctx: Context, connectionIds: readonly string[]) =>
  findConnectionUses(ctx, { connectionIds });
/** Rotations of a connection, and credentials that are still to be revoked with it, in one statement. */
export const listConnectionHolds = (ctx: Context, connectionId: string) => findConnectionHolds(ctx, { connectionId });
export { SEALED_ROTATIONS } from './store/sealing.js';
