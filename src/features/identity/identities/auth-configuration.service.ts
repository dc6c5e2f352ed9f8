import { type EntityName, type FilterQuery, sql } from '@mikro-orm/core';
import type { z } from 'zod';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import type { Statement } from '../../../kernel/database/statement.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import {
  authorizeCredentialsOf,
  callerNetworks,
  keepLoggedInAdmins,
  lockAccount,
  lockLoggedInAdmins,
  protectInstallationAdmin,
} from '../organizations/public.js';
import { deleteTokenAuth, deleteUniversalAuth } from './auth-configuration.queries.js';
import {
  AttachTokenAuth,
  AttachUniversalAuth,
  OneTokenAuth,
  OneUniversalAuth,
  requireFittingTtl,
  type TokenTtls,
  type TtlChanges,
  toRanges,
  UpdateTokenAuth,
  UpdateUniversalAuth,
} from './auth-configuration.rules.js';
import {
  type TokenAuthView,
  tokenSettingsOf,
  toTokenAuthView,
  toUniversalAuthView,
  type UniversalAuthView,
} from './auth-configuration.view.js';
import type { AuthMethod } from './auth-method.js';
import type { IdentityReader, IdentityView } from './identity.reader.js';
import { deleteTokensOfMethod } from './identity.sql.js';
import { protectOwnLogins } from './identity-rights.js';
import { IdentityTokenAuth } from './token-auth.entity.js';
import { IdentityUniversalAuth } from './universal-auth.entity.js';

interface OfIdentity {
  readonly identityId: string;
}

/** One way in of machine identities: the rules of its configuration, and how that is stored. */
interface AuthConfiguration<Settings, Changes, Row, View> {
  readonly method: AuthMethod;
  /** What the audit trail calls it. */
  readonly subject: string;
  /** Where an identity has none. */
  readonly missing: ErrorCode;
  readonly rules: {
    readonly attach: z.ZodType<Settings>;
    readonly update: z.ZodType<Changes>;
    readonly one: z.ZodType<OfIdentity>;
  };
  /** @throws AppError where the identity has one already */
  readonly insert: (tx: Transaction, settings: Settings) => Promise<View>;
  /** Its rows, and how they are shown. */
  readonly entity: EntityName<Row>;
  readonly view: (row: Row) => View;
  /** Undefined: there is none. */
  readonly update: (tx: Transaction, changes: Changes) => Promise<Row | undefined>;
  readonly delete: Statement<OfIdentity, Row>;
}

/**
 * The verbs of the configurations of a way in, the same for all of them. Each throws VALIDATION_FAILED, PERMISSION_DENIED,
 * IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE and, but for `attach`, the code for a missing configuration; a change, wider or narrower,
 * PERMISSION_BOUNDARY for an account that may do more than the caller.
 */
class AuthConfigurationService<
  Settings extends OfIdentity & TokenTtls,
  Changes extends OfIdentity & TtlChanges,
  Row extends OfIdentity,
  View extends TokenTtls,
> {
  constructor(
    private readonly identities: IdentityReader,
    private readonly kind: AuthConfiguration<Settings, Changes, Row, View>,
  ) {}

  /**
   * Attaches a configuration to an identity.
   *
   * @param raw `{ identityId, accessTokenTrustedIps?, accessTokenTTL?, accessTokenMaxTTL?, accessTokenNumUsesLimit? }` and
   *   what the kind has of its own
   */
  async attach(ctx: Context, raw: unknown): Promise<View> {
    const settings = parse(this.kind.rules.attach, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, settings.identityId);
      const configuration = await this.kind.insert(tx, { ...settings, identityId: identity.id });
      await this.#recordChange(tx, 'attach', identity.id);
      return configuration;
    });
  }

  /**
   * The configuration of an identity.
   *
   * @param raw `{ identityId }`
   */
  async get(ctx: Context, raw: unknown): Promise<View> {
    const { identityId } = parse(this.kind.rules.one, raw);
    const { id } = await this.identities.authorized(ctx, identityId, 'identity:read');
    const configuration = this.#shown(
      await emOf(ctx).findOne(this.kind.entity, { identityId: id } as FilterQuery<Row>),
    );
    await ctx.auditTrail.recordRead(ctx, { action: `${this.kind.subject}:get`, facts: { identityId: id } });
    return configuration;
  }

  /**
   * Changes the configuration. The networks hold at once for all tokens and client secrets; the rest for tokens made from now on.
   *
   * @param raw as for `attach`; absent keeps
   * @throws LAST_ADMIN for networks that keep out the caller, who changes its own and is the last admin who can log in
   */
  async update(ctx: Context, raw: unknown): Promise<View> {
    const changes = parse(this.kind.rules.update, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, changes.identityId);
      // From where somebody else calls is not known.
      const admins = await lockLoggedInAdmins(tx, identity.id === tx.actor.id ? [identity.id] : [], callerNetworks(tx));
      const configuration = this.#shown(await this.kind.update(tx, { ...changes, identityId: identity.id }));
      requireFittingTtl(changes, configuration);
      await keepLoggedInAdmins(tx, admins);
      await this.#recordChange(tx, 'update', identity.id);
      return configuration;
    });
  }

  /**
   * Removes the configuration with its client secrets and all tokens that were made by it. They stop at once, on every node.
   *
   * @param raw `{ identityId }`
   * @throws LAST_ADMIN when it has the last credentials of the lasting admins of an organization
   */
  async remove(ctx: Context, raw: unknown): Promise<View> {
    const { identityId } = parse(this.kind.rules.one, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, identityId, 'identity:revoke-auth');
      await lockAccount(tx, { kind: 'identity', id: identity.id });
      const admins = await lockLoggedInAdmins(tx, [identity.id]);
      const [row] = await this.kind.delete(tx, { identityId: identity.id });
      const configuration = this.#shown(row);
      // After the configuration and its client secrets: their deletion waited for tokens that were being made by them.
      const tokens = await deleteTokensOfMethod(tx, { identityId: identity.id, method: this.kind.method });
      await keepLoggedInAdmins(tx, admins);
      await this.#recordChange(tx, 'remove', identity.id, { tokens: tokens.length });
      return configuration;
    });
  }

  async #loadForChange(
    tx: Transaction,
    identityId: string,
    action: 'identity:edit' | 'identity:revoke-auth' = 'identity:edit',
  ): Promise<IdentityView> {
    const identity = await this.identities.authorized(tx, identityId, ['identity:read', action]);
    protectInstallationAdmin(tx, identity);
    await protectOwnLogins(tx, identity, { method: this.kind.method, action });
    await authorizeCredentialsOf(tx, identity, action);
    return identity;
  }

  #shown(row: Row | null | undefined): View {
    if (row == null) throw new AppError(this.kind.missing);
    return this.kind.view(row);
  }

  #recordChange(
    tx: Transaction,
    verb: string,
    identityId: string,
    facts: Readonly<Record<string, number>> = {},
  ): Promise<void> {
    return tx.auditTrail.recordChange(tx, { action: `${this.kind.subject}:${verb}`, facts: { identityId, ...facts } });
  }
}

export type TokenAuthService = ReturnType<typeof createTokenAuthService>;

/** Token-auth configurations: administrators make the tokens. */
export const createTokenAuthService = (identities: IdentityReader) =>
  new AuthConfigurationService(identities, {
    method: 'token-auth',
    subject: 'identity-token-auth',
    missing: 'TOKEN_AUTH_NOT_FOUND',
    rules: { attach: AttachTokenAuth, update: UpdateTokenAuth, one: OneTokenAuth },
    insert: insertTokenAuth,
    entity: IdentityTokenAuth,
    view: toTokenAuthView,
    update: updateTokenAuth,
    delete: deleteTokenAuth,
  });

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

/** No row: there was none. */
async function updateTokenAuth(
  tx: Transaction,
  { identityId, ...changes }: z.output<typeof UpdateTokenAuth>,
): Promise<IdentityTokenAuth | undefined> {
  const [row] = await tx.em
    .createQueryBuilder(IdentityTokenAuth)
    .update({ ...tokenSettingsOf(changes), updatedAt: sql`now()` })
    .where({ identityId })
    .returning('*')
    .execute<IdentityTokenAuth[]>('all');
  return row;
}

export type UniversalAuthService = ReturnType<typeof createUniversalAuthService>;

/** Universal-auth configurations: an identity gets a client id, and logs in with it and a client secret of its own. */
export const createUniversalAuthService = (identities: IdentityReader) =>
  new AuthConfigurationService(identities, {
    method: 'universal-auth',
    subject: 'identity-universal-auth',
    missing: 'UNIVERSAL_AUTH_NOT_FOUND',
    rules: { attach: AttachUniversalAuth, update: UpdateUniversalAuth, one: OneUniversalAuth },
    insert: insertUniversalAuth,
    entity: IdentityUniversalAuth,
    view: toUniversalAuthView,
    update: updateUniversalAuth,
    delete: deleteUniversalAuth,
  });

/** @throws UNIVERSAL_AUTH_EXISTS */
async function insertUniversalAuth(
  tx: Transaction,
  settings: z.output<typeof AttachUniversalAuth>,
): Promise<UniversalAuthView> {
  const universalAuth = tx.em.create(IdentityUniversalAuth, {
    identityId: settings.identityId,
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
  return toUniversalAuthView(universalAuth);
}

/** No row: there was none. */
async function updateUniversalAuth(
  tx: Transaction,
  { identityId, clientSecretTrustedIps: networks, ...changes }: z.output<typeof UpdateUniversalAuth>,
): Promise<IdentityUniversalAuth | undefined> {
  const [row] = await tx.em
    .createQueryBuilder(IdentityUniversalAuth)
    .update({
      ...tokenSettingsOf(changes),
      ...(networks && { clientSecretTrustedIps: toRanges(networks) }),
      updatedAt: sql`now()`,
    })
    .where({ identityId })
    .returning('*')
    .execute<IdentityUniversalAuth[]>('all');
  return row;
}
