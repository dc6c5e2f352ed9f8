import type { z } from 'zod';
import { PermissionDenied, type Reason } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { distinctIds, NO_ID } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import type { IdentityReader } from '../identities/public.js';
import {
  authorizeCredentialsOf,
  keepLoggedInAdmins,
  lockLoggedInAdmins,
  protectInstallationAdmin,
  rightsBeyondCaller,
} from '../organizations/public.js';
import { type AccessTokenView, findTokens, holderIdOf, toAccessTokenView } from './access-token.queries.js';
import { MAX_REVOKED, RevokeTokens } from './access-token.rules.js';
import type { PendingTokenUses } from './pending-token-uses.js';
import { revokeTokens } from './token-family.js';
import { FIND_FAMILIES, FIND_MAKERS } from './token-family.sql.js';
import { listTokens, type TokenSearch } from './token-list.queries.js';
import { filtered, manageableTokens, tokensOf } from './token-list.service.js';
import { authorizedTokens } from './token-rights.js';

/** Tokens that were revoked, or would be without `dryRun`. */
interface Revocation {
  readonly isDryRun: boolean;
  readonly tokens: readonly AccessTokenView[];
  readonly hasMore: boolean;
}

/** Tokens that a request selects. */
interface SelectedTokens {
  readonly tokens: readonly AccessTokenView[];
  readonly hasMore: boolean;
}

type Filter = Omit<z.output<typeof RevokeTokens>, 'ids' | 'dryRun'>;

/** Callers who select tokens by their attributes see them, so they need the right to read them too. */
const NEEDED = ['identity:get-token', 'identity:delete-token'] as const;

/** Revokes many tokens at once. */
export class TokenRevocationService {
  constructor(
    private readonly identities: IdentityReader,
    private readonly pendingUses: PendingTokenUses,
  ) {}

  /**
   * Revokes tokens and the tokens that their holders created with them, all or nothing. Takes effect at once on every
   * node. The number of statements is constant. If callers revoke a token concurrently, only one of them succeeds.
   *
   * @param raw `{ ids, dryRun? }` or `{ identityId?, expiresBefore?, unusedSince?, dryRun? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE;
   * TOKEN_NOT_FOUND with the paths of all unknown tokens; LAST_ADMIN if an organization would have no permanent admin who
   * can log in
   */
  async revoke(ctx: Context, raw: unknown): Promise<Revocation> {
    const { ids, dryRun: isDryRun, ...filter } = parse(RevokeTokens, raw);
    await this.pendingUses.store(ctx.database.query);
    const revocation = await inTransaction(ctx, async (tx) => {
      const chosen = ids == null ? await this.#matching(tx, filter) : await named(tx, ids);
      const chosenIds = chosen.tokens.map(({ id }) => id);
      const admins = await lockLoggedInAdmins(tx, [...new Set(chosen.tokens.map(holderIdOf))]);
      const revoked = isDryRun
        ? (await FIND_FAMILIES(tx, { ids: chosenIds })).map(({ id }) => id)
        : await revokeTokens(tx, chosenIds);
      await keepLoggedInAdmins(tx, admins, revoked);
      const tokens = await inOrder(tx, chosenIds, revoked);
      if (!isDryRun && tokens.length > 0) await tx.auditTrail.recordChange(tx, ...tokens.map(eventOf));
      return { isDryRun, tokens, hasMore: chosen.hasMore };
    });
    const { tokens } = revocation;
    if (isDryRun || tokens.length === 0)
      await ctx.auditTrail.recordRead(ctx, { action: 'access-token:list', facts: { count: tokens.length } });
    return revocation;
  }

  /**
   * The tokens that match a filter, without those of accounts that may do more than the caller.
   *
   * @throws PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND
   */
  async #matching(tx: Transaction, { identityId, ...filter }: Filter): Promise<SelectedTokens> {
    const all =
      identityId == null ? await manageableTokens(tx, this.identities, NEEDED) : await this.#ofIdentity(tx, identityId);
    const makers = await FIND_MAKERS(tx, { id: tx.actor.tokenId });
    const search = {
      ...filtered(all, { ...filter, includeEnded: false }),
      ofInstallationAdmin: tx.actor.isInstallationAdmin,
      exceptIds: makers.map(({ id }) => id),
    };
    const rows = await withinRights(tx, search, MAX_REVOKED + 1);
    return { tokens: rows.slice(0, MAX_REVOKED).map(toAccessTokenView), hasMore: rows.length > MAX_REVOKED };
  }

  async #ofIdentity(tx: Transaction, identityId: string): Promise<TokenSearch> {
    const identity = await this.identities.authorized(tx, identityId, NEEDED);
    protectInstallationAdmin(tx, identity);
    await authorizeCredentialsOf(tx, identity, 'identity:delete-token');
    return tokensOf(tx, { identityIds: [identity.id] });
  }
}

/** The first tokens of a search whose accounts may do no more than the caller. */
async function withinRights(tx: Transaction, search: TokenSearch, limit: number) {
  const exceptHolders: string[] = [];
  for (;;) {
    const page = { ...search, exceptHolders, time: null, id: null, limit, limitOfAll: limit };
    const rows = await listTokens(tx, page);
    const beyond = await rightsBeyondCaller(tx, rows.map(holderIdOf), 'identity:delete-token');
    if (beyond.size === 0) return rows;
    exceptHolders.push(...beyond.keys());
  }
}

/** Tokens by ID. @throws TOKEN_NOT_FOUND, PERMISSION_DENIED, PERMISSION_BOUNDARY, each with the paths of all such tokens */
async function named(tx: Transaction, given: readonly string[]): Promise<SelectedTokens> {
  const ids = distinctIds(given);
  const places = ids.map((id) => `ids[${given.findIndex((text) => text.toLowerCase() === id)}]`);
  const found = await authorizedTokens(tx, ids, 'identity:delete-token');
  const errors = found.map((token) => {
    if (token instanceof AppError) return token;
    return denialIn(() => protectInstallationAdmin(tx, token));
  });
  const missing = errors.flatMap((error, at): ErrorDetail[] =>
    error?.code === 'TOKEN_NOT_FOUND'
      ? [{ path: places[at] ?? '', code: 'TOKEN_NOT_FOUND', message: 'does not exist, or you cannot see it' }]
      : [],
  );
  if (missing.length > 0) throw new AppError('TOKEN_NOT_FOUND', undefined, { details: missing });
  const reasons = errors.flatMap((error, at): Reason[] =>
    error instanceof PermissionDenied
      ? [{ path: places[at] ?? '', needs: error.attempt.action, about: 'is a token that' }]
      : [],
  );
  const first = errors.find((error) => error instanceof PermissionDenied);
  if (first !== undefined) throw new PermissionDenied(first.attempt, [], reasons);
  const holders = found.map((token) => (token instanceof AppError ? NO_ID : holderIdOf(token)));
  const beyond = await rightsBeyondCaller(tx, holders, 'identity:delete-token');
  const beyondEach = holders.flatMap((holder, at): Reason[] =>
    (beyond.get(holder) ?? []).slice(0, 1).map((needs) => ({ path: places[at] ?? '', needs, about: TAKEN_FROM })),
  );
  const attempt = { action: 'identity:delete-token', projectId: null } as const;
  if (beyond.size > 0) throw new PermissionDenied(attempt, [...beyond.values()].flat(), beyondEach);
  return { tokens: found.flatMap((token) => (token instanceof AppError ? [] : token)), hasMore: false };
}

/** Why a token is not revoked if its holder may do more than the caller; the name of a missing right follows. */
const TAKEN_FROM = 'is a token of an account with more permissions than you; to revoke it';

function denialIn(check: () => void): PermissionDenied | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof PermissionDenied) return error;
    throw error;
  }
}

/** The current state of tokens: the selected ones in their order, then the others. */
async function inOrder(
  tx: Transaction,
  chosen: readonly string[],
  ids: readonly string[],
): Promise<readonly AccessTokenView[]> {
  const rows = new Map((await findTokens(tx, { ids })).map((row) => [row.id, toAccessTokenView(row)]));
  return [...new Set([...chosen, ...ids.toSorted()])].flatMap((id) => rows.get(id) ?? []);
}

const eventOf = ({ id, identityId, userId }: AccessTokenView) => ({
  action: 'access-token:revoke',
  facts: { accessTokenId: id, identityId, userId },
});
