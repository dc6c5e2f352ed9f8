import type { Context } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { query } from '../../kernel/database/database.js';
import { AppError } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';

/** A user as services pass it on. */
export interface UserView {
  readonly id: string;
  readonly username: string;
  readonly organizationId: string;
  readonly roleSlug: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The start of every statement that reads users; `u` is the user, `m` the membership in the owning organization. */
export const SELECT_USER = `select u.id, u.username, u.organization_id as "organizationId", m.role as "roleSlug", u.created_at as "createdAt", u.updated_at as "updatedAt"
  from app_user u join organization_membership m on m.organization_id = u.organization_id and m.user_id = u.id`;

/** How many users organizations have. */
export const countUsers: BatchLoad<number> = async (ctx, organizationIds) => {
  const rows = await query<{ organizationId: string; count: number }>(
    ctx,
    `select organization_id as "organizationId", count(*)::integer as count
     from app_user where organization_id = any($1::uuid[]) group by 1`,
    [organizationIds],
  );
  return new Map(rows.map(({ organizationId, count }) => [organizationId, count]));
};

/** A row, whose times are texts, as a view. */
export const toUserView = (row: UserView): UserView => ({
  ...row,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});

/** What other slices may ask about users. */
export class UserReader {
  /** A user of the organization that the caller's token is scoped to. @throws USER_NOT_FOUND */
  async load(ctx: Context, id: string): Promise<UserView> {
    const [row] = isId(id)
      ? await query<UserView>(ctx, `${SELECT_USER} where u.id = $1 and u.organization_id = $2`, [
          id,
          ctx.organizationId,
        ])
      : [];
    if (row === undefined) throw new AppError('USER_NOT_FOUND');
    return toUserView(row);
  }
}
