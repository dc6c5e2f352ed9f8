import { sql } from 'kysely';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { db } from '../../../kernel/database/tables.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import { protectInstallationAdmin } from '../../organizations/public.js';
import { DELETE_TOKENS_OF_METHOD } from '../auth-method.sql.js';
import type { IdentityReader, IdentityView } from '../identity.reader.js';
import { protectOwnLogins } from '../own-logins.js';
import { tokenSettingsOf } from '../token-auth.queries.js';
import { requireFittingTtl, toRanges } from '../token-auth.rules.js';
import { IdentityUniversalAuth, type IdentityUniversalAuthSchema } from '../universal-auth.entity.js';
import { deleteUniversalAuth, findUniversalAuth, UNIVERSAL_AUTH_COLUMNS } from './universal-auth.queries.js';
import { AttachUniversalAuth, OneUniversalAuth, UpdateUniversalAuth } from './universal-auth.rules.js';
import { toUniversalAuthView, type UniversalAuthView } from './universal-auth.view.js';

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
      const universalAuth = tx.em.create(IdentityUniversalAuth, {
        identityId: identity.id,
        clientId: newId(),
        clientSecretTrustedIps: toRanges(settings.clientSecretTrustedIps),
        trustedIps: toRanges(settings.accessTokenTrustedIps),
        ttlSeconds: settings.accessTokenTTL,
        maxTtlSeconds: settings.accessTokenMaxTTL,
        numUsesLimit: settings.accessTokenNumUsesLimit,
      });
      await flush(tx, {
        identity_universal_auth_pkey: 'UNIVERSAL_AUTH_EXISTS',
        identity_universal_auth_identity_id_fkey: 'IDENTITY_NOT_FOUND',
      });
      await audit(tx, 'identity-universal-auth:attach', identity.id);
      return toUniversalAuthView(universalAuth);
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
    const [row] = await findUniversalAuth(ctx, { identityId: id });
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
    const { identityId, clientSecretTrustedIps, ...input } = parse(UpdateUniversalAuth, raw);
    authorize(ctx, 'identity:read');
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, identityId);
      const [row] = await db<typeof IdentityUniversalAuthSchema>(tx)
        .updateTable('identity_universal_auth')
        .set({
          ...tokenSettingsOf(input),
          client_secret_trusted_ips: clientSecretTrustedIps && toRanges(clientSecretTrustedIps),
          updated_at: sql`now()`,
        })
        .where('identity_id', '=', identity.id)
        .returning(UNIVERSAL_AUTH_COLUMNS)
        .execute();
      if (row === undefined) throw new AppError('UNIVERSAL_AUTH_NOT_FOUND');
      const universalAuth = toUniversalAuthView(row);
      requireFittingTtl(input, universalAuth);
      await audit(tx, 'identity-universal-auth:update', identity.id);
      return universalAuth;
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
      const [row] = await deleteUniversalAuth(tx, { identityId: identity.id });
      if (row === undefined) throw new AppError('UNIVERSAL_AUTH_NOT_FOUND');
      // After the client secrets, which went with the configuration: their deletion waited for logins under way.
      const tokens = await DELETE_TOKENS_OF_METHOD(tx, { identityId: identity.id, method: 'universal-auth' });
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

const audit = (
  tx: Transaction,
  action: string,
  identityId: string,
  facts: Readonly<Record<string, number>> = {},
): Promise<void> => tx.auditTrail.recordChange(tx, { action, facts: { identityId, ...facts } });
