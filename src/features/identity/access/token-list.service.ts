import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import type { OrderedRequest } from '../../../kernel/list-order.js';
import {
  type CountedConnectionOf,
  counted,
  Page,
  type PageRequest,
  type TimeBounds,
  timeCursorKey,
  timePageBounds,
} from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { type IdentityAction, type IdentityReader, tokenHoldersByIds } from '../identities/public.js';
import type { UserReader } from '../organizations/public.js';
import { type AccessTokenView, toAccessTokenView } from './access-token.queries.js';
import { ListOfIdentity, ListPersonalTokens, ListTokens } from './access-token.rules.js';
import type { PendingTokenUses } from './pending-token-uses.js';
import {
  countTokens,
  listTokens,
  type TokenFilter,
  type TokenSearch,
  type VisibleOwners,
} from './token-list.queries.js';
import { isCaller, scopeOf } from './token-rights.js';

/** Lists of tokens. */
export class TokenListService {
  constructor(
    private readonly others: { readonly identities: IdentityReader; readonly users: UserReader },
    private readonly pendingUses: PendingTokenUses,
  ) {}

  /**
   * The tokens of a machine identity, or all that the caller may read, latest change first.
   *
   * @param raw `{ identityId?, expiresBefore?, unusedSince?, includeEnded?, updatedSince?, first?, after?, offset? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<AccessTokenView>> {
    const { identityId, includeEnded, expiresBefore, unusedSince, ...request } = parse(ListTokens, raw);
    const { identities } = this.others;
    const named = identityId == null ? null : await identities.authorized(ctx, identityId, 'identity:get-token');
    const all =
      named === null
        ? await manageableTokens(ctx, identities, ['identity:get-token'])
        : tokensOf(ctx, { identityIds: [named.id] });
    const facts: AuditFacts = named === null ? {} : { identityId: named.id };
    return this.#page(ctx, filtered(all, { includeEnded, expiresBefore, unusedSince }), request, facts);
  }

  /**
   * The personal access tokens of a user, latest change first. A user sees its own; an admin any user's.
   *
   * @param raw `{ userId, updatedSince?, first?, after?, offset? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, USER_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async listPersonal(ctx: Context, raw: unknown): Promise<CountedConnectionOf<AccessTokenView>> {
    const { userId, ...request } = parse(ListPersonalTokens, raw);
    if (!isCaller(ctx, 'user', userId)) {
      authorize(ctx, 'member:edit');
      await this.others.users.load(ctx, userId);
    }
    return this.#page(ctx, tokensOf(ctx, { userIds: [userId] }), request, { userId });
  }

  async #page(
    ctx: Context,
    search: TokenSearch,
    request: TokenPageRequest,
    facts: AuditFacts,
  ): Promise<CountedConnectionOf<AccessTokenView>> {
    await this.pendingUses.store(ctx.database.query);
    const page = new Page(await pageOfTokens(ctx, search, request), request, cursorKeyOf);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'access-token:list',
      facts: { ...facts, count: page.nodes.length },
    });
    return counted(page, () => countOfTokens(ctx, search));
  }

  /**
   * The valid tokens of an identity that is part of a larger response, in one statement for all identities. Null for an
   * identity of another organization.
   *
   * @throws VALIDATION_FAILED, PERMISSION_DENIED
   */
  async listOfIdentity(
    ctx: Context,
    identityId: string,
    raw: object,
  ): Promise<CountedConnectionOf<AccessTokenView> | null> {
    const request = parse(ListOfIdentity, raw);
    const bounds = { ...timePageBounds(request), since: request.updatedSince?.toISOString() ?? null };
    const holder = await batched(ctx, tokenHoldersByIds, identityId);
    await batched(ctx, this.#storeUses, '');
    if (holder === undefined) return null;
    const rows = await batched(ctx, tokensOfIdentities, listKey(identityId, bounds));
    const page = new Page(rows ?? [], request, cursorKeyOf);
    return counted(page, async () => (await batched(ctx, countTokensByIdentity, identityId)) ?? 0);
  }

  readonly #storeUses: BatchLoad<never> = async (ctx) => {
    await this.pendingUses.store(ctx.database.query);
    return new Map();
  };
}

const cursorKeyOf = ({ updatedAt, id }: AccessTokenView) => timeCursorKey(updatedAt, id);

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
export async function manageableTokens(
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
interface TokenPageRequest extends PageRequest, Pick<OrderedRequest, 'updatedSince'> {
  readonly offset?: number | null | undefined;
}

/**
 * A page of tokens, latest change first, then ID. One more than requested, so that the page knows whether there are
 * more.
 */
async function pageOfTokens(
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
async function countOfTokens(ctx: Context, search: TokenSearch): Promise<number> {
  const [row] = await countTokens(ctx, { ...search, byIdentity: false });
  return row?.count ?? 0;
}

/** The valid tokens of identities, latest change first, then ID. */
const tokensOfIdentities = batchOfLists<AccessTokenView, TimeBounds & { since: string | null }>(
  async (ctx, identityIds, { since, ...bounds }) => {
    const updatedSince = since === null ? null : new Date(since);
    const search = { ...tokensOf(ctx, { identityIds }), includeEnded: false, updatedSince };
    return (await listTokens(ctx, { ...search, ...bounds, limitOfAll: null })).map(toAccessTokenView);
  },
  ({ identityId }) => identityId ?? '',
);

/** Number of these. */
const countTokensByIdentity: BatchLoad<number> = async (ctx, identityIds) => {
  const search = { ...tokensOf(ctx, { identityIds }), includeEnded: false };
  const counts = await countTokens(ctx, { ...search, byIdentity: true });
  return new Map(counts.map(({ identityId, count }) => [identityId ?? '', count]));
};
