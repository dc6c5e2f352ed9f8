import type { Context } from '../../kernel/context.js';
import { findConnectionHolds } from './rotation-view.sql.js';
import { findAccountOwners, findConnectionUses } from './store/uses.sql.js';

/** Rotations that use connections, in one statement. */
export const listConnectionUses = (ctx: Context, connectionIds: readonly string[]) =>
  findConnectionUses(ctx, { connectionIds });
/** Rotations of a connection, and credentials that are still to be revoked with it, in one statement. */
export const listConnectionHolds = (ctx: Context, connectionId: string) => findConnectionHolds(ctx, { connectionId });
/** What owns an account in the organization: rotations, and credentials that are still to be revoked; in one statement. */
export const listAccountOwners = (ctx: Context, accountDigest: Buffer) =>
  findAccountOwners(ctx, { organizationId: ctx.organizationId, accountDigest });
export { credentialsLeftOf } from './debts/left-credentials.js';
export { ROTATION_STATUSES } from './store/rotation.entity.js';
export { SEALED_ROTATIONS } from './store/sealing.js';
