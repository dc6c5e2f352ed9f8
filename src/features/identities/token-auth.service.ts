import { sql } from 'kysely';
import type { z } from 'zod';
import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { flush, inTransaction } from '../../kernel/database/in-transaction.js';
import { db } from '../../kernel/database/tables.js';
import { AppError } from '../../kernel/errors.js';
import { parse } from '../../kernel/validation.js';
import { protectInstallationAdmin } from '../organizations/public.js';
import { DELETE_TOKENS_OF_METHOD } from './auth-method.sql.js';
import type { IdentityReader, IdentityView } from './identity.reader.js';
import { protectOwnLogins } from './own-logins.js';
import { IdentityTokenAuth, type IdentityTokenAuthSchema } from './token-auth.entity.js';
import { deleteTokenAuth, TOKEN_AUTH_COLUMNS, tokenSettingsOf } from './token-auth.queries.js';
import { AttachTokenAuth, OneTokenAuth, requireFittingTtl, toRanges, UpdateTokenAuth } from './token-auth.rules.js';
import { type TokenAuthView, toTokenAuthView } from './token-auth.view.js';

/** The verbs of token-auth configurations. */
export class TokenAuthService {
  constructor(private readonly identities: IdentityReader) {}

  /**
   * Attaches token authentication to an identity.
   *
   * @param raw `{ identityId, accessTokenTrustedIps?, accessTokenTTL?, accessTokenMaxTTL?, accessTokenNumUsesLimit? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, TOKEN_AUTH_EXISTS, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async attach(ctx: Context, raw: unknown): Promise<TokenAuthView> {
    const { identityId, ...settings } = parse(AttachTokenAuth, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, identityId);
      const tokenAuth = await insertTokenAuth(tx, { identityId: identity.id, ...settings });
      await audit(tx, 'identity-token-auth:attach', identity.id);
      return tokenAuth;
    });
  }

  /**
   * The token-auth configuration of an identity.
   *
   * @param raw `{ identityId }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, TOKEN_AUTH_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async get(ctx: Context, raw: unknown): Promise<TokenAuthView> {
    const { identityId } = parse(OneTokenAuth, raw);
    authorize(ctx, 'identity:read');
    const { id } = await this.identities.load(ctx, identityId);
    const tokenAuth = await this.identities.loadTokenAuth(ctx, id);
    await ctx.auditTrail.recordRead(ctx, { action: 'identity-token-auth:get', facts: { identityId: id } });
    return tokenAuth;
  }

  /**
   * Changes the configuration. The networks hold at once for all tokens; the rest for tokens made from now on.
   *
   * @param raw as for `attach`; absent keeps
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, TOKEN_AUTH_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async update(ctx: Context, raw: unknown): Promise<TokenAuthView> {
    const input = parse(UpdateTokenAuth, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, input.identityId);
      const [row] = await db<typeof IdentityTokenAuthSchema>(tx)
        .updateTable('identity_token_auth')
        .set({ ...tokenSettingsOf(input), updated_at: sql`now()` })
        .where('identity_id', '=', identity.id)
        .returning(TOKEN_AUTH_COLUMNS)
        .execute();
      if (row === undefined) throw new AppError('TOKEN_AUTH_NOT_FOUND');
      const tokenAuth = toTokenAuthView(row);
      requireFittingTtl(input, tokenAuth);
      await audit(tx, 'identity-token-auth:update', identity.id);
      return tokenAuth;
    });
  }

  /**
   * Removes the configuration and all tokens that were made by it. They stop at once, on every node.
   *
   * @param raw `{ identityId }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, TOKEN_AUTH_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async remove(ctx: Context, raw: unknown): Promise<TokenAuthView> {
    const { identityId } = parse(OneTokenAuth, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.identities.load(tx, identityId);
      authorize(tx, 'identity:revoke-auth');
      protectInstallationAdmin(tx, identity);
      await protectOwnLogins(tx, identity, { method: 'token-auth', action: 'identity:revoke-auth' });
      const [row] = await deleteTokenAuth(tx, { identityId: identity.id });
      if (row === undefined) throw new AppError('TOKEN_AUTH_NOT_FOUND');
      // After the configuration: its deletion waited for tokens that were being made by it.
      const tokens = await DELETE_TOKENS_OF_METHOD(tx, { identityId: identity.id, method: 'token-auth' });
      await tx.auditTrail.recordChange(tx, {
        action: 'identity-token-auth:remove',
        facts: { identityId: identity.id, tokens: tokens.length },
      });
      return toTokenAuthView(row);
    });
  }

  async #loadForChange(tx: Transaction, identityId: string): Promise<IdentityView> {
    const identity = await this.identities.load(tx, identityId);
    authorize(tx, 'identity:edit');
    protectInstallationAdmin(tx, identity);
    await protectOwnLogins(tx, identity, { method: 'token-auth', action: 'identity:edit' });
    return identity;
  }
}

/** Stores a configuration. Who may do so, and the audit row, are the caller's business. @throws TOKEN_AUTH_EXISTS */
export async function insertTokenAuth(
  tx: Transaction,
  settings: z.output<typeof AttachTokenAuth>,
): Promise<TokenAuthView> {
  const tokenAuth = tx.em.create(IdentityTokenAuth, {
    identityId: settings.identityId,
    trustedIps: toRanges(settings.accessTokenTrustedIps),
    ttlSeconds: settings.accessTokenTTL,
    maxTtlSeconds: settings.accessTokenMaxTTL,
    numUsesLimit: settings.accessTokenNumUsesLimit,
  });
  await flush(tx, {
    identity_token_auth_pkey: 'TOKEN_AUTH_EXISTS',
    identity_token_auth_identity_id_fkey: 'IDENTITY_NOT_FOUND',
  });
  return toTokenAuthView(tokenAuth);
}

const audit = (tx: Transaction, action: string, identityId: string): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, facts: { identityId } });
