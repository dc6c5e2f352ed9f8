import { authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { isMemberNow, type Member, type OrganizationReader } from '../organizations/public.js';
import {
  type AccessTokenView,
  findTokenOwners,
  findVisibleTokens,
  type Scope,
  toAccessTokenView,
} from './access-token.queries.js';

/** A token as found for its caller. */
interface FoundToken extends AccessTokenView {
  readonly isInstallationAdmin: boolean;
}

type TokenAction = 'identity:get-token' | 'identity:create-token' | 'identity:delete-token';

/** Postgres accepts an ID in upper case too. */
export const isCaller = ({ actor }: Context, kind: 'user' | 'identity', id: string): boolean =>
  actor.kind === kind && actor.id === id.toLowerCase();

/**
 * A token, for callers who may perform the action on it.
 *
 * @throws PERMISSION_DENIED, TOKEN_NOT_FOUND
 */
export async function authorizedToken(ctx: Context, id: string, action: TokenAction): Promise<FoundToken> {
  const [found] = await authorizedTokens(ctx, [id], action);
  if (found === undefined || found instanceof AppError) throw found ?? new AppError('TOKEN_NOT_FOUND');
  return found;
}

/**
 * Tokens in the order of the given IDs, for callers who may perform the action on them: by the rights of the projects
 * that own their identities, otherwise of the organization. PERMISSION_DENIED or TOKEN_NOT_FOUND in place of every
 * other one. Three statements, however many.
 */
export async function authorizedTokens(
  ctx: Context,
  ids: readonly string[],
  action: TokenAction,
): Promise<(FoundToken | AppError)[]> {
  const known = ids.filter(isId).map((id) => id.toLowerCase());
  const owners = await findTokenOwners(ctx, { ids: known, organizationId: ctx.organizationId });
  // Looked up in any case, so that an unknown ID takes the same statements as a hidden one.
  const projectIds = owners.length === 0 ? [NO_ID] : [...new Set(owners.map(({ projectId }) => projectId))];
  const accesses = await ctx.providers.listAccessBelow(ctx, ctx.actor.id, projectIds);
  const projects = new Map(accesses.map((access) => [access.projectId, access]));
  const places = new Map(
    owners.flatMap(({ id, projectId }) => {
      const project = projects.get(projectId);
      return project === undefined ? [] : [[id, project] as const];
    }),
  );
  const identityIds = owners.filter(({ id }) => places.has(id)).map(({ identityId }) => identityId);
  const rows = await findVisibleTokens(ctx, { ...viewerOf(ctx), identityIds, ids: known });
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const project = places.get(id.toLowerCase());
    // A caller who may see no token at all does not learn whether it exists.
    if (project === undefined && isNonMember(ctx)) return denied('identity:get-token');
    const row = found.get(id.toLowerCase());
    if (row === undefined) return new AppError('TOKEN_NOT_FOUND');
    const { identityId, userId } = row;
    const needed = identityId === null ? 'member:edit' : action;
    const isAllowed =
      (userId !== null && isCaller(ctx, 'user', userId)) ||
      can((project ?? ctx).ability, needed, project && identityId !== null ? { identityId } : undefined);
    if (!isAllowed) return new PermissionDenied({ action: needed, projectId: project?.projectId ?? null });
    return { ...toAccessTokenView(row), isInstallationAdmin: row.isInstallationAdmin ?? false };
  });
}

const denied = (action: TokenAction): AppError => new PermissionDenied({ action, projectId: null });

/** Whether a caller may see tokens only by its rights in projects. */
const isNonMember = ({ actor, ability }: Context): boolean =>
  actor.kind !== 'user' && !can(ability, 'member:edit') && !can(ability, 'identity:get-token');

/** @throws PERMISSION_DENIED */
export function refuseNonMembers(ctx: Context): void {
  if (isNonMember(ctx)) authorize(ctx, 'identity:get-token');
}

/** The tokens that the caller may see, except those of projects. */
export const viewerOf = (ctx: Context) => ({
  ...scopeOf(ctx),
  actorId: ctx.actor.id,
  identityIds: [] as readonly string[],
  seesIdentities: can(ctx.ability, 'identity:get-token'),
  seesUsers: can(ctx.ability, 'member:edit'),
});

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
const isRootScoped = (ctx: Context): boolean => ctx.organizationId === ctx.rootOrganizationId;
