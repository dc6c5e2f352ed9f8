import { authorize, can } from '../../../../kernel/authz/ability.js';
import type { Context } from '../../../../kernel/context.js';
import { type BatchLoad, batchOfLists } from '../../../../kernel/database/batched.js';
import type { OrderedRequest } from '../../../../kernel/list-order.js';
import { type PageRequest, type TimeBounds, timePageBounds } from '../../../../kernel/paging.js';
import type { IdentityAction, IdentityReader } from '../../identities/public.js';
import { type AccessTokenView, toAccessTokenView } from '../access-token.view.js';
import { scopeOf } from '../token-scope.js';
import {
  countTokens,
  listTokens,
  type TokenFilter,
  type TokenSearch,
  type VisibleOwners,
} from './token-list.queries.js';

/** All tokens of these owners. */
export const tokensOf = (
  ctx: Context,
  owners: Partial<Pick<VisibleOwners, 'identityIds' | 'userIds'>>,
): TokenSearch => ({
  ...scopeOf(ctx),
  ofIdentities: false,
  ofInstallationAdmin: true,
  ofUsers: false,
  identityIds: [],
  userIds: [],
  includeEnded: true,
  expiresBefore: null,
  unusedSince: null,
  updatedSince: null,
  exceptIds: [],
  exceptHolders: [],
  ...owners,
});

/**
 * All tokens on which the caller may perform the action: of identities of the organization and of its projects, of
 * users for callers who may edit members, and its own if it is a user.
 *
 * @throws PERMISSION_DENIED for callers who may do so on none, whether or not there are any
 */
export async function tokensInReach(
  ctx: Context,
  identities: IdentityReader,
  actions: readonly IdentityAction[],
): Promise<TokenSearch> {
  const identityIds = await identities.idsInProjects(ctx, actions);
  const ofIdentities = actions.every((action) => can(ctx.ability, action));
  const ofUsers = can(ctx.ability, 'member:edit');
  const userIds = ctx.actor.kind === 'user' ? [ctx.actor.id] : [];
  if (identityIds === undefined && !ofUsers && userIds.length === 0)
    for (const action of actions) authorize(ctx, action);
  return { ...tokensOf(ctx, { identityIds: identityIds ?? [], userIds }), ofIdentities, ofUsers };
}

/** The filters of a caller. */
type AskedFilter = {
  readonly [Name in 'expiresBefore' | 'unusedSince']?: TokenFilter[Name] | undefined;
} & { readonly includeEnded: boolean };

export const filtered = (
  search: TokenSearch,
  { includeEnded, expiresBefore = null, unusedSince = null }: AskedFilter,
): TokenSearch => ({ ...search, includeEnded, expiresBefore, unusedSince });

/** The requested page of tokens. */
export interface TokenPageRequest extends PageRequest, Pick<OrderedRequest, 'updatedSince'> {
  readonly offset?: number | null | undefined;
}

/**
 * A page of tokens, latest change first, then ID. One more than requested, so that the page knows whether there are
 * more.
 */
export async function pageOfTokens(
  ctx: Context,
  all: TokenSearch,
  { offset, updatedSince = null, ...request }: TokenPageRequest,
): Promise<AccessTokenView[]> {
  const bounds = timePageBounds(request);
  const search = { ...all, updatedSince };
  const limit = bounds.limit === null ? null : bounds.limit + (offset ?? 0);
  const rows = await listTokens(ctx, { ...search, ...bounds, limit, limitOfAll: limit });
  return rows.slice(offset ?? 0).map(toAccessTokenView);
}

/** Number of tokens on all pages. */
export async function countOfTokens(ctx: Context, search: TokenSearch): Promise<number> {
  const [row] = await countTokens(ctx, { ...search, byIdentity: false });
  return row?.count ?? 0;
}

/** The valid tokens of identities, latest change first, then ID. */
export const tokensOfIdentities = batchOfLists<AccessTokenView, TimeBounds & { since: string | null }>(
  async (ctx, identityIds, { since, ...bounds }) => {
    const updatedSince = since === null ? null : new Date(since);
    const search = { ...tokensOf(ctx, { identityIds }), includeEnded: false, updatedSince };
    return (await listTokens(ctx, { ...search, ...bounds, limitOfAll: null })).map(toAccessTokenView);
  },
  ({ identityId }) => identityId ?? '',
);

/** Number of these. */
export const countTokensByIdentity: BatchLoad<number> = async (ctx, identityIds) => {
  const search = { ...tokensOf(ctx, { identityIds }), includeEnded: false };
  const counts = await countTokens(ctx, { ...search, byIdentity: true });
  return new Map(counts.map(({ identityId, count }) => [identityId ?? '', count]));
};
