import {
  type EntityName,
  type FilterQuery,
  LockMode,
  type RequiredEntityData,
  raw as sql,
  Utils,
} from '@mikro-orm/core';
import type { z } from 'zod';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { parse } from '../../../kernel/validation.js';
import {
  authorizeCredentialsOf,
  authorizeOwnSessions,
  callerNetworks,
  keepLoggedInAdmins,
  lockAccount,
  lockLoggedInAdmins,
  protectInstallationAdmin,
} from '../organizations/public.js';
import { requireFittingTtl, TokenAuthRules, toRanges, UniversalAuthRules } from './auth-configuration.rules.js';
import {
  type TokenAuthView,
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

type TokenAuthSettings = z.output<typeof TokenAuthRules.attach>;
export type TokenAuthChanges = z.output<typeof TokenAuthRules.update>;
/** What settings are stored as; what is undefined keeps. */
type Columns<Row> = { readonly [Name in keyof Row]?: Row[Name] | undefined };

/** An authentication method of machine identities: the rules of its configuration, and how that is stored and shown. */
export interface AuthConfiguration<
  Row extends IdentityTokenAuth,
  View extends TokenAuthView,
  Changes extends TokenAuthChanges = TokenAuthChanges,
> {
  readonly method: AuthMethod;
  readonly errors: { readonly exists: ErrorCode; readonly missing: ErrorCode };
  readonly rules: {
    /** What descriptions call it. */
    readonly name: string;
    readonly attach: z.ZodObject & z.ZodType<Changes & TokenAuthSettings>;
    readonly update: z.ZodObject & z.ZodType<Changes>;
    readonly one: z.ZodObject & z.ZodType<{ readonly identityId: string }>;
  };
  readonly entity: EntityName<Row>;
  /** What its own settings are stored as, beside those of its tokens. Absent: as they are. @param stored null: it is new */
  readonly columns?: (
    tx: Transaction,
    own: Omit<Changes, keyof TokenAuthSettings>,
    { identityId, stored }: { identityId: string; stored: Row | null },
  ) => Columns<Row> | Promise<Columns<Row>>;
  /** Whether its parts fit together, as they will be stored: two callers may have changed one part each. @throws VALIDATION_FAILED */
  readonly requireWhole?: (row: Row) => void;
  readonly view: (row: Row) => View;
  /**
   * It lets in tokens of a platform, of which its sessions keep something. A change ends those that it let in, since it may not let them
   * in any more, and is a grant to the identity: rules can name what is kept.
   */
  readonly endsSessions?: true;
}

/**
 * The verbs of the configurations of an authentication method, the same for all methods. Each throws VALIDATION_FAILED, PERMISSION_DENIED,
 * IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE and, but for `attach`, the code for a missing configuration; a change, wider or narrower,
 * PERMISSION_BOUNDARY for an account that may do more than the caller.
 */
export class AuthConfigurationService<
  Row extends IdentityTokenAuth,
  View extends TokenAuthView,
  Changes extends TokenAuthChanges,
> {
  /** What the audit trail calls it. */
  readonly #subject: string;

  constructor(
    private readonly identities: IdentityReader,
    private readonly kind: AuthConfiguration<Row, View, Changes>,
  ) {
    this.#subject = `identity-${kind.method}`;
  }

  /**
   * Attaches a configuration to an identity.
   *
   * @param raw `{ identityId, accessTokenTrustedIps?, accessTokenTTL?, accessTokenMaxTTL?, accessTokenNumUsesLimit? }` and
   *   what the kind has of its own
   * @throws the code for one that exists already; KEY_DISABLED where it has a secret to seal
   */
  async attach(ctx: Context, raw: unknown): Promise<View> {
    const settings = parse(this.kind.rules.attach, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, settings.identityId);
      const configuration = await insertConfiguration(tx, this.kind, { ...settings, identityId: identity.id });
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
    const row = this.#required(await emOf(ctx).findOne(this.kind.entity, { identityId: id } as FilterQuery<Row>));
    await ctx.auditTrail.recordRead(ctx, { action: `${this.#subject}:get`, facts: { identityId: id } });
    return this.kind.view(row);
  }

  /**
   * Changes the configuration. The networks hold at once for all tokens and client secrets; the rest for tokens made from now on. Where a
   * change ends sessions, all tokens that were made by it stop at once, on every node.
   *
   * @param raw as for `attach`; absent keeps
   * @throws KEY_DISABLED as for `attach`; LAST_ADMIN for networks that keep out the caller, who changes its own and is the last admin who can log in, and where the
   *   sessions that end are the last credentials of the lasting admins of an organization
   */
  async update(ctx: Context, raw: unknown): Promise<View> {
    const changes = parse(this.kind.rules.update, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#loadForChange(tx, changes.identityId);
      const { endsSessions = false } = this.kind;
      if (endsSessions) await lockAccount(tx, { kind: 'identity', id: identity.id });
      // From where somebody else calls is not known.
      const isOwn = identity.id === tx.actor.id;
      const admins = await lockLoggedInAdmins(
        tx,
        isOwn || endsSessions ? [identity.id] : [],
        isOwn ? callerNetworks(tx) : undefined,
      );
      const row = await this.#lock(tx, identity.id);
      const columns = await columnsOf(tx, this.kind, { ...changes, identityId: identity.id }, row);
      tx.em.assign(row, { ...columns, updatedAt: sql('now()') } as never);
      await flush(tx);
      const configuration = this.kind.view(row);
      requireFittingTtl(changes, configuration);
      const tokens = endsSessions
        ? await deleteTokensOfMethod(tx, { identityId: identity.id, method: this.kind.method })
        : [];
      await keepLoggedInAdmins(tx, admins);
      await this.#recordChange(tx, 'update', identity.id, endsSessions ? { tokens: tokens.length } : {});
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
      const row = await this.#lock(tx, identity.id);
      tx.em.remove(row);
      await flush(tx);
      // After the configuration and its client secrets: their deletion waited for tokens that were being made by them.
      const tokens = await deleteTokensOfMethod(tx, { identityId: identity.id, method: this.kind.method });
      await keepLoggedInAdmins(tx, admins);
      await this.#recordChange(tx, 'remove', identity.id, { tokens: tokens.length });
      return this.kind.view(row);
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
    if (this.kind.endsSessions && action === 'identity:edit') await authorizeOwnSessions(tx, identity, action);
    return identity;
  }

  /** The configuration, which nobody else changes until the transaction ends. */
  async #lock(tx: Transaction, identityId: string): Promise<Row> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    return this.#required(await tx.em.findOne(this.kind.entity, { identityId } as FilterQuery<Row>, { lockMode }));
  }

  #required(row: Row | null): Row {
    if (row === null) throw new AppError(this.kind.errors.missing);
    return row;
  }

  #recordChange(
    tx: Transaction,
    verb: string,
    identityId: string,
    facts: Readonly<Record<string, number>> = {},
  ): Promise<void> {
    return tx.auditTrail.recordChange(tx, { action: `${this.#subject}:${verb}`, facts: { identityId, ...facts } });
  }
}

/** Stores a configuration. Who may do so, and the audit record, are the caller's business. @throws `exists` of its errors */
async function insertConfiguration<
  Row extends IdentityTokenAuth,
  View extends TokenAuthView,
  Changes extends TokenAuthChanges,
>(tx: Transaction, kind: AuthConfiguration<Row, View, Changes>, settings: Changes): Promise<View> {
  const columns = { identityId: settings.identityId, ...(await columnsOf(tx, kind, settings, null)) };
  const row = tx.em.create(kind.entity, columns as unknown as RequiredEntityData<Row>);
  const table = `identity_${kind.method.replace('-', '_')}`;
  await flush(tx, { [`${table}_pkey`]: kind.errors.exists, [`${table}_identity_id_fkey`]: 'IDENTITY_NOT_FOUND' });
  return kind.view(row);
}

/** What settings are stored as; those that are absent keep. @throws VALIDATION_FAILED for what does not fit together then */
async function columnsOf<Row extends IdentityTokenAuth, Changes extends TokenAuthChanges>(
  tx: Transaction,
  kind: AuthConfiguration<Row, TokenAuthView, Changes>,
  settings: Changes,
  stored: Row | null,
): Promise<object> {
  const { identityId, accessTokenTrustedIps, accessTokenTTL, accessTokenMaxTTL, accessTokenNumUsesLimit, ...own } =
    settings;
  const columns = {
    ...(kind.columns === undefined ? own : await kind.columns(tx, own, { identityId, stored })),
    trustedIps: accessTokenTrustedIps && toRanges(accessTokenTrustedIps),
    ttlSeconds: accessTokenTTL,
    maxTtlSeconds: accessTokenMaxTTL,
    numUsesLimit: accessTokenNumUsesLimit,
  };
  Utils.dropUndefinedProperties(columns);
  kind.requireWhole?.({ ...stored, ...columns } as Row);
  return columns;
}

/** Administrators make the tokens. */
export const TOKEN_AUTH: AuthConfiguration<IdentityTokenAuth, TokenAuthView> = {
  method: 'token-auth',
  errors: { exists: 'TOKEN_AUTH_EXISTS', missing: 'TOKEN_AUTH_NOT_FOUND' },
  rules: TokenAuthRules,
  entity: IdentityTokenAuth,
  view: toTokenAuthView,
};

/** As `attach` stores it. @throws TOKEN_AUTH_EXISTS */
export const insertTokenAuth = (tx: Transaction, settings: TokenAuthSettings): Promise<TokenAuthView> =>
  insertConfiguration(tx, TOKEN_AUTH, settings);

/** An identity gets a client ID, and logs in with it and a client secret of its own. */
export const UNIVERSAL_AUTH: AuthConfiguration<
  IdentityUniversalAuth,
  UniversalAuthView,
  z.output<typeof UniversalAuthRules.update>
> = {
  method: 'universal-auth',
  errors: { exists: 'UNIVERSAL_AUTH_EXISTS', missing: 'UNIVERSAL_AUTH_NOT_FOUND' },
  rules: UniversalAuthRules,
  entity: IdentityUniversalAuth,
  columns: (_tx, { clientSecretTrustedIps: networks }) => ({
    clientSecretTrustedIps: networks && toRanges(networks),
  }),
  view: toUniversalAuthView,
};
