import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { guarded, inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { parse } from '../../kernel/validation.js';
import { protectInstallationAdmin } from '../organizations/public.js';
import type { IdentityReader, IdentityView } from './identity.reader.js';
import { protectOwnLogins } from './own-logins.js';
import { AttachTokenAuth, OneTokenAuth, requireFittingTtl, toRanges, UpdateTokenAuth } from './token-auth.rules.js';
import { TOKEN_AUTH_COLUMNS, type TokenAuthView, toTokenAuthView } from './token-auth.view.js';

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
      const [row] = await query<TokenAuthView>(tx, UPDATE, [
        identity.id,
        input.accessTokenTrustedIps === undefined ? null : toRanges(input.accessTokenTrustedIps),
        input.accessTokenTTL ?? null,
        input.accessTokenMaxTTL ?? null,
        input.accessTokenNumUsesLimit ?? null,
      ]);
      if (row === undefined) throw new AppError('TOKEN_AUTH_NOT_FOUND');
      requireFittingTtl(input, row);
      await audit(tx, 'identity-token-auth:update', identity.id);
      return toTokenAuthView(row);
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
      const [row] = await query<TokenAuthView>(
        tx,
        `delete from identity_token_auth a where a.identity_id = $1 returning ${TOKEN_AUTH_COLUMNS}`,
        [identity.id],
      );
      if (row === undefined) throw new AppError('TOKEN_AUTH_NOT_FOUND');
      // After the configuration: its deletion waited for tokens that were being made by it.
      const tokens = await query(
        tx,
        `delete from access_token where identity_id = $1 and auth_method = 'token-auth' returning id`,
        [identity.id],
      );
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

const UPDATE = `update identity_token_auth a set
    trusted_ips = coalesce($2::cidr[], a.trusted_ips), ttl_seconds = coalesce($3, a.ttl_seconds),
    max_ttl_seconds = coalesce($4, a.max_ttl_seconds), num_uses_limit = coalesce($5, a.num_uses_limit), updated_at = now()
  where a.identity_id = $1 returning ${TOKEN_AUTH_COLUMNS}`;

/** What a configuration is made of. */
export interface TokenAuthSettings {
  readonly identityId: string;
  readonly accessTokenTrustedIps: readonly { ipAddress: string }[];
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
  readonly accessTokenNumUsesLimit: number;
}

/** Stores a configuration. Who may do so, and the audit row, are the caller's business. @throws TOKEN_AUTH_EXISTS */
export async function insertTokenAuth(tx: Transaction, settings: TokenAuthSettings): Promise<TokenAuthView> {
  const [row] = await guarded(
    () =>
      query<TokenAuthView>(
        tx,
        `insert into identity_token_auth as a (identity_id, trusted_ips, ttl_seconds, max_ttl_seconds, num_uses_limit)
         values ($1, $2::cidr[], $3, $4, $5) returning ${TOKEN_AUTH_COLUMNS}`,
        [
          settings.identityId,
          toRanges(settings.accessTokenTrustedIps),
          settings.accessTokenTTL,
          settings.accessTokenMaxTTL,
          settings.accessTokenNumUsesLimit,
        ],
      ),
    { identity_token_auth_pkey: 'TOKEN_AUTH_EXISTS', identity_token_auth_identity_id_fkey: 'IDENTITY_NOT_FOUND' },
  );
  if (row === undefined) throw new Error('an insert returned no row');
  return toTokenAuthView(row);
}

const audit = (tx: Transaction, action: string, identityId: string): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, facts: { identityId } });
