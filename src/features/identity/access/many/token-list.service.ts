import type { AuditFacts } from '../../../../kernel/audit/audit-record.js';
import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context } from '../../../../kernel/context.js';
import { type BatchLoad, batched, listKey } from '../../../../kernel/database/batched.js';
import { type CountedConnectionOf, counted, Page, timeCursorKey, timePageBounds } from '../../../../kernel/paging.js';
import { parse } from '../../../../kernel/validation.js';
import { type IdentityReader, tokenHoldersByIds } from '../../identities/public.js';
import type { UserReader } from '../../organizations/public.js';
import { ListOfIdentity, ListPersonalTokens, ListTokens } from '../access-token.rules.js';
import type { AccessTokenView } from '../access-token.view.js';
import type { PendingTokenUses } from '../pending-token-uses.js';
import { isSelf } from '../token-rights.js';
import {
  countOfTokens,
  countTokensByIdentity,
  filtered,
  pageOfTokens,
  type TokenPageRequest,
  tokensInReach,
  tokensOf,
  tokensOfIdentities,
} from './token-list.js';
import type { TokenSearch } from './token-list.queries.js';

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
        ? await tokensInReach(ctx, identities, ['identity:get-token'])
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
    if (!isSelf(ctx, 'user', userId)) {
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
    raw: object = {},
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
