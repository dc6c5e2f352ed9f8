import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { guarded, inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import { protectInstallationAdmin } from '../organizations/public.js';
import type { IdentityReader, IdentityView } from './identity.reader.js';
import { protectOwnLogins } from './own-logins.js';
import { requireFittingTtl, toRanges } from './token-auth.rules.js';
import { AttachUniversalAuth, OneUniversalAuth, UpdateUniversalAuth } from './universal-auth.rules.js';
import { toUniversalAuthView, UNIVERSAL_AUTH_COLUMNS, type UniversalAuthView } from './universal-auth.view.js';

/** The verbs of universal-auth configurations: client id, networks, and how long tokens live. Client secrets: client-secret.service.ts. */
export class UniversalAuthService {
  constructor(private readonly identities: IdentityReader) {}

  /**
   * Attaches universal authentication to an identity, which gets a client id. It logs in with a client secret of its own.
   *
   * @param raw `{ identityId, clientSecretTrustedIps?, accessTokenTrustedIps?, accessTokenTTL?, accessTokenMaxTTL?,
   *   accessTokenNumUsesLimit? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, UNIVERSAL_AUTH_EXISTS, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async attach(ctx: Context, raw: unknown): Promise<UniversalAuthView> {
    const { identityId, ...settings } = parse(AttachUniversalAuth, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, identityId);
      const params = [
        identity.id,
        newId(),
        toRanges(settings.clientSecretTrustedIps),
        toRanges(settings.accessTokenTrustedIps),
        settings.accessTokenTTL,
        settings.accessTokenMaxTTL,
        settings.accessTokenNumUsesLimit,
      ];
      const [row] = await guarded(() => query<UniversalAuthView>(tx, INSERT, params), {
        identity_universal_auth_pkey: 'UNIVERSAL_AUTH_EXISTS',
        identity_universal_auth_identity_id_fkey: 'IDENTITY_NOT_FOUND',
      });
      if (row === undefined) throw new Error('an insert returned no row');
      await audit(tx, 'identity-universal-auth:attach', identity.id);
      return toUniversalAuthView(row);
    });
  }

  /**
   * The universal-auth configuration of an identity.
   *
   * @param raw `{ identityId }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, UNIVERSAL_AUTH_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async get(ctx: Context, raw: unknown): Promise<UniversalAuthView> {
    const { identityId } = parse(OneUniversalAuth, raw);
    authorize(ctx, 'identity:read');
    const { id } = await this.identities.load(ctx, identityId);
    const [row] = await query<UniversalAuthView>(
      ctx,
      `select ${UNIVERSAL_AUTH_COLUMNS} from identity_universal_auth a where a.identity_id = $1`,
      [id],
    );
    if (row === undefined) throw new AppError('UNIVERSAL_AUTH_NOT_FOUND');
    await ctx.auditTrail.recordRead(ctx, { action: 'identity-universal-auth:get', facts: { identityId: id } });
    return toUniversalAuthView(row);
  }

  /**
   * Changes the configuration. The networks hold at once, for all client secrets and tokens; the rest for tokens made from now on.
   *
   * @param raw as for `attach`; absent keeps
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, UNIVERSAL_AUTH_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async update(ctx: Context, raw: unknown): Promise<UniversalAuthView> {
    const { identityId, clientSecretTrustedIps, accessTokenTrustedIps, ...input } = parse(UpdateUniversalAuth, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, identityId);
      const [row] = await query<UniversalAuthView>(tx, UPDATE, [
        identity.id,
        clientSecretTrustedIps === undefined ? null : toRanges(clientSecretTrustedIps),
        accessTokenTrustedIps === undefined ? null : toRanges(accessTokenTrustedIps),
        input.accessTokenTTL ?? null,
        input.accessTokenMaxTTL ?? null,
        input.accessTokenNumUsesLimit ?? null,
      ]);
      if (row === undefined) throw new AppError('UNIVERSAL_AUTH_NOT_FOUND');
      requireFittingTtl(input, row);
      await audit(tx, 'identity-universal-auth:update', identity.id);
      return toUniversalAuthView(row);
    });
  }

  /**
   * Removes the configuration with its client secrets and all tokens that were made by them. They stop at once, on every node.
   *
   * @param raw `{ identityId }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, UNIVERSAL_AUTH_NOT_FOUND, AUDIT_UNAVAILABLE
   * Source: behaviour 3.3.
   */
  async remove(ctx: Context, raw: unknown): Promise<UniversalAuthView> {
    const { identityId } = parse(OneUniversalAuth, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.identities.load(tx, identityId);
      authorize(tx, 'identity:revoke-auth');
      protectInstallationAdmin(tx, identity);
      await protectOwnLogins(tx, identity, { method: 'universal-auth', action: 'identity:revoke-auth' });
      const [row] = await query<UniversalAuthView>(
        tx,
        `delete from identity_universal_auth a where a.identity_id = $1 returning ${UNIVERSAL_AUTH_COLUMNS}`,
        [identity.id],
      );
      if (row === undefined) throw new AppError('UNIVERSAL_AUTH_NOT_FOUND');
      // After the client secrets, which went with the configuration: their deletion waited for logins under way.
      const tokens = await query(
        tx,
        `delete from access_token where identity_id = $1 and auth_method = 'universal-auth' returning id`,
        [identity.id],
      );
      await audit(tx, 'identity-universal-auth:remove', identity.id, { tokens: tokens.length });
      return toUniversalAuthView(row);
    });
  }

  async #loadForChange(tx: Transaction, identityId: string): Promise<IdentityView> {
    const identity = await this.identities.load(tx, identityId);
    authorize(tx, 'identity:edit');
    protectInstallationAdmin(tx, identity);
    await protectOwnLogins(tx, identity, { method: 'universal-auth', action: 'identity:edit' });
    return identity;
  }
}

const INSERT = `insert into identity_universal_auth as a
    (identity_id, client_id, client_secret_trusted_ips, trusted_ips, ttl_seconds, max_ttl_seconds, num_uses_limit)
  values ($1, $2, $3::cidr[], $4::cidr[], $5, $6, $7) returning ${UNIVERSAL_AUTH_COLUMNS}`;

const UPDATE = `update identity_universal_auth a set
    client_secret_trusted_ips = coalesce($2::cidr[], a.client_secret_trusted_ips),
    trusted_ips = coalesce($3::cidr[], a.trusted_ips), ttl_seconds = coalesce($4, a.ttl_seconds),
    max_ttl_seconds = coalesce($5, a.max_ttl_seconds), num_uses_limit = coalesce($6, a.num_uses_limit), updated_at = now()
  where a.identity_id = $1 returning ${UNIVERSAL_AUTH_COLUMNS}`;

const audit = (
  tx: Transaction,
  action: string,
  identityId: string,
  facts: Readonly<Record<string, number>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, facts: { identityId, ...facts } });
