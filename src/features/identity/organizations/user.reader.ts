import type { Context } from '../../../kernel/context.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { findUsers, type UserView } from './user.queries.js';

/** What other slices may ask about users. */
export class UserReader {
  /** A user of the organization that the caller's token is scoped to. @throws USER_NOT_FOUND */
  load(ctx: Context, id: string): Promise<UserView> {
    return loadRow(ctx, findUsers, { ids: [id], organizationId: ctx.organizationId }, 'USER_NOT_FOUND');
  }
}
