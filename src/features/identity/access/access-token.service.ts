import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { parse } from '../../../kernel/validation.js';
import type { IdentityReader } from '../identities/public.js';
import {
  authorizeCredentialsOf,
  keepLoggedInAdmins,
  lockLoggedInAdmins,
  type OrganizationReader,
  protectInstallationAdmin,
  type UserReader,
} from '../organizations/public.js';
import {
  type AccessTokenView,
  findTokens,
  findVisibleTokens,
  holderIdOf,
  renameToken,
  toAccessTokenView,
} from './access-token.queries.js';
import { CreatePersonalToken, CreateToken, OneToken, RenameToken } from './access-token.rules.js';
import type { PendingTokenUses } from './pending-token-uses.js';
import { insertOwnToken, TokenCreation } from './token-creation.js';
import { revokeTokens } from './token-family.js';
import { type IssuedToken, insertToken } from './token-issuing.js';
import { authorizedToken, isCaller, refuseNonMembers, scopeOfToken, viewerOf } from './token-rights.js';

/** What the token slice needs from others. */
export interface AccessDependencies {
  readonly organizations: OrganizationReader;
  readonly identities: IdentityReader;
  readonly users: UserReader;
}

/**
 * Creates, reads, renames and revokes access tokens. What holders do with their own token is in token-holder.service.ts.
 */
export class AccessTokenService {
  private readonly creation: TokenCreation;

  constructor(
    private readonly others: AccessDependencies,
    private readonly pendingUses: PendingTokenUses,
  ) {
    this.creation = new TokenCreation(others.identities, others.organizations);
  }

  /**
   * Creates a token for a machine identity with the settings of its token auth. It is returned only once. A token that
   * an identity creates for itself has at most the remaining lifetime and uses of the creating token, and is revoked
   * with it.
   *
   * @param raw `{ identityId, name?, organizationSlug? }`: the slug of a sub-organization to scope it to
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND, TOKEN_AUTH_NOT_FOUND,
   * ORGANIZATION_NOT_FOUND, TOKEN_SCOPE_REFUSED, AUDIT_UNAVAILABLE; for itself also TOKEN_USES_EXHAUSTED with the last
   * use, and LAST_ADMIN if the last admin would lose its last uses
   * Source: operation 1 of the specification.
   */
  async create(ctx: Context, raw: unknown): Promise<IssuedToken> {
    const { name = null, ...wanted } = parse(CreateToken, raw);
    return this.creation.create(ctx, wanted, name);
  }

  /**
   * Creates a personal access token. Users create their own; admins of the organization can create one for any user,
   * who otherwise could not get a first token. A token that a user creates for itself is limited as in `create`.
   *
   * @param raw `{ userId, name?, organizationSlug?, ttlSeconds?, maxTtlSeconds?, useLimit? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, USER_NOT_FOUND, ORGANIZATION_NOT_FOUND,
   * TOKEN_SCOPE_REFUSED, AUDIT_UNAVAILABLE; TOKEN_USES_EXHAUSTED and LAST_ADMIN as `create`
   */
  async createPersonal(ctx: Context, raw: unknown): Promise<IssuedToken> {
    const { userId, name = null, organizationSlug, ...limits } = parse(CreatePersonalToken, raw);
    if (!isCaller(ctx, 'user', userId)) authorize(ctx, 'member:edit');
    return inTransaction(ctx, async (tx) => {
      if (!isCaller(tx, 'user', userId)) {
        await this.others.users.load(tx, userId);
        await authorizeCredentialsOf(tx, { id: userId }, 'member:edit');
      }
      const organizationId = await scopeOfToken(tx, this.others.organizations, {
        owner: { kind: 'user', id: userId },
        slug: organizationSlug,
      });
      const order = {
        ...{ owner: { userId }, organizationId },
        accessTokenTTL: limits.ttlSeconds,
        accessTokenMaxTTL: limits.maxTtlSeconds,
        accessTokenNumUsesLimit: limits.useLimit,
      };
      const issued = await (isCaller(tx, 'user', userId) ? insertOwnToken : insertToken)(tx, order, { name });
      await audit(tx, 'access-token:create', issued.tokenData);
      return issued;
    });
  }

  /**
   * Returns the data of one token, without the token itself.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, TOKEN_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<AccessTokenView> {
    const { id } = parse(OneToken, raw);
    await this.pendingUses.store(ctx.database.query);
    const token = await authorizedToken(ctx, id, 'identity:get-token');
    await ctx.auditTrail.recordRead(ctx, { action: 'access-token:get', facts: { accessTokenId: token.id } });
    return token;
  }

  /**
   * Tokens by ID that another response links to: those that `get` would find.
   *
   * @throws PERMISSION_DENIED
   */
  readonly byIds: BatchLoad<AccessTokenView> = async (ctx, ids) => {
    refuseNonMembers(ctx);
    await this.pendingUses.store(ctx.database.query);
    const rows = await findVisibleTokens(ctx, { ...viewerOf(ctx), ids });
    return new Map(rows.map((row) => [row.id, toAccessTokenView(row)]));
  };

  /**
   * Returns the data of the token of this request.
   *
   * @throws TOKEN_NOT_FOUND if it was deleted during the request; AUDIT_UNAVAILABLE
   */
  async getOwn(ctx: Context): Promise<AccessTokenView> {
    await this.pendingUses.store(ctx.database.query);
    const [row] = ctx.actor.tokenId === null ? [] : await findTokens(ctx, { ids: [ctx.actor.tokenId] });
    if (row === undefined) throw new AppError('TOKEN_NOT_FOUND');
    await ctx.auditTrail.recordRead(ctx, { action: 'access-token:get', facts: { accessTokenId: row.id } });
    return toAccessTokenView(row);
  }

  /**
   * Renames a token.
   *
   * @param raw `{ id, name? }`: an absent name stays, null removes it
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, TOKEN_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async rename(ctx: Context, raw: unknown): Promise<AccessTokenView> {
    const { id, name } = parse(RenameToken, raw);
    return inTransaction(ctx, async (tx) => {
      const token = await authorizedToken(tx, id, 'identity:create-token');
      protectInstallationAdmin(tx, token);
      const changes = { id: token.id, name: name === undefined ? token.name : name };
      const row = await loadRow(tx, renameToken, changes, 'TOKEN_NOT_FOUND');
      await audit(tx, 'access-token:rename', token);
      return toAccessTokenView(row);
    });
  }

  /**
   * Revokes a token and the tokens that its holder created with it. Takes effect at once on every node.
   *
   * @param raw `{ id }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, AUDIT_UNAVAILABLE; PERMISSION_BOUNDARY if its holder may do more than
   * the caller; TOKEN_NOT_FOUND, also if already revoked; LAST_ADMIN if an organization would have no permanent admin
   * who can log in
   */
  async revoke(ctx: Context, raw: unknown): Promise<AccessTokenView> {
    const { id } = parse(OneToken, raw);
    return inTransaction(ctx, async (tx) => {
      const token = await authorizedToken(tx, id, 'identity:delete-token');
      protectInstallationAdmin(tx, token);
      await authorizeCredentialsOf(tx, { id: holderIdOf(token) }, 'identity:delete-token');
      const admins = await lockLoggedInAdmins(tx, [holderIdOf(token)]);
      const revoked = await revokeTokens(tx, [token.id]);
      if (!revoked.includes(token.id)) throw new AppError('TOKEN_NOT_FOUND');
      await keepLoggedInAdmins(tx, admins);
      await audit(tx, 'access-token:revoke', token, { tokens: revoked.length });
      return toAccessTokenView(await loadRow(tx, findTokens, { ids: [token.id] }, 'TOKEN_NOT_FOUND'));
    });
  }
}

const audit = (
  tx: Transaction,
  action: string,
  token: Pick<AccessTokenView, 'id' | 'identityId' | 'userId'>,
  further: AuditFacts = {},
): Promise<void> =>
  tx.auditTrail.recordChange(tx, {
    action,
    facts: { accessTokenId: token.id, identityId: token.identityId, userId: token.userId, ...further },
  });
