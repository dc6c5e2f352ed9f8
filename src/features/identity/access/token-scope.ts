import type { Context, Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { isMemberNow, type Member, type OrganizationReader } from '../organizations/public.js';
import type { Scope } from './access-token.queries.js';

/**
 * The organization that a new token is scoped to: the caller's, or a sub-organization of it by slug. A token of a
 * sub-organization cannot create one with a wider scope.
 *
 * @throws ORGANIZATION_NOT_FOUND, TOKEN_SCOPE_REFUSED
 */
export async function scopeOfToken(
  tx: Transaction,
  organizations: OrganizationReader,
  { owner, slug }: { owner: Member; slug: string | null | undefined },
): Promise<string> {
  if (slug == null || !isRootScoped(tx)) return tx.organizationId;
  const { id } = await organizations.loadSubOrganization(tx, tx.rootOrganizationId, slug);
  if (!(await isMemberNow(tx, id, owner)))
    throw new AppError(
      'TOKEN_SCOPE_REFUSED',
      'The holder of the new token is not a member of the organization. Add it to the organization first. Your token stays valid.',
    );
  return id;
}

/** What the caller sees by the scope of its token. */
export const scopeOf = (ctx: Context): Scope => ({
  organizationId: ctx.organizationId,
  isRootScoped: isRootScoped(ctx),
});

/** A token of a sub-organization sees and changes nothing outside of it, not even other tokens of its owner. */
export const isRootScoped = (ctx: Context): boolean => ctx.organizationId === ctx.rootOrganizationId;
