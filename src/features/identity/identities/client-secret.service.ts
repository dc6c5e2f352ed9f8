import { sql } from '@mikro-orm/core';
import type { z } from 'zod';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { hashToken, mintClientSecret } from '../../../kernel/crypto/token.js';
import { type BatchLoad, mapFound } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { findRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID, newId } from '../../../kernel/ids.js';
import { type CountedConnectionOf, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { toInt } from '../../../kernel/value-rules.js';
import {
  authorizeCredentialsOf,
  keepLoggedInAdmins,
  lockLoggedInAdmins,
  protectInstallationAdmin,
} from '../organizations/public.js';
import { listClientSecrets } from './auth-configuration.queries.js';
import { CreateClientSecret, ListClientSecrets, OneClientSecret } from './auth-configuration.rules.js';
import { ClientSecret } from './client-secret.entity.js';
import { type IdentityReader, type IdentityView, withOwners } from './identity.reader.js';
import { type IdentityAction, protectOwnLogins, readableOwned } from './identity-rights.js';

/** What stands before the random part of a client secret. */
const MARK_LENGTH = 4;
const PREFIX_LENGTH = 4;

/** The verbs of client secrets, with which machine identities log in. */
export class ClientSecretService {
  constructor(private readonly identities: IdentityReader) {}

  /**
   * Makes a client secret for an identity. It is shown this once; what is kept is its hash, and four characters by which
   * people tell it from others.
   *
   * @param raw `{ identityId, description?, ttl?, numUsesLimit? }`; seconds; 0 means no limit
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND, UNIVERSAL_AUTH_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async create(ctx: Context, raw: unknown): Promise<IssuedClientSecret> {
    const { identityId, description, ttl, numUsesLimit } = parse(CreateClientSecret, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.identities.authorized(tx, identityId, 'identity:create-token');
      protectInstallationAdmin(tx, identity);
      await authorizeCredentialsOf(tx, identity, 'identity:create-token');
      await protectOwnLogins(tx, identity, { method: 'universal-auth', action: 'identity:create-token' });
      const clientSecret = mintClientSecret();
      const secret = {
        id: newId(),
        identityId: identity.id,
        secretHash: hashToken(clientSecret),
        prefix: clientSecret.slice(MARK_LENGTH, MARK_LENGTH + PREFIX_LENGTH),
        description,
        ttlSeconds: ttl,
        numUsesLimit,
        // By the clock of the database, which a unit of work does not give back.
        expiresAt: ttl > 0 ? sql`now() + make_interval(secs => ${ttl})` : null,
      };
      const insert = tx.em.createQueryBuilder(ClientSecret).insert(secret).returning('*');
      // Not looked for before: the configuration may go at this moment.
      const [row] = await withConstraintCodes(() => insert.execute<ClientSecret[]>('all'), {
        universal_auth_client_secret_config_fk: 'UNIVERSAL_AUTH_NOT_FOUND',
      });
      if (row === undefined) throw new Error('an insert returned no row');
      tx.claim?.withholdResponse(row.id);
      const clientSecretData = toClientSecretView(row);
      await audit(tx, 'client-secret:create', clientSecretData);
      return { clientSecret, clientSecretData };
    });
  }

  /**
   * The client secrets of an identity, newest first, then id. Revoked and expired ones too.
   *
   * @param raw `{ identityId, first?, after? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<ClientSecretView>> {
    const { identityId, ...request } = parse(ListClientSecrets, raw);
    const bounds = timePageBounds(request);
    const { id } = await this.identities.authorized(ctx, identityId, 'identity:get-token');
    const rows = await listClientSecrets(ctx, { identityId: id, ...bounds });
    const page = new Page(rows.map(toClientSecretView), request, (row) => timeCursorKey(row.createdAt, row.id));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'client-secret:list',
      facts: { identityId: id, count: page.nodes.length },
    });
    return counted(page, () => emOf(ctx).count(ClientSecret, { identityId: id }));
  }

  /**
   * One client secret, without the secret itself.
   *
   * @param raw `{ id, identityId? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, IDENTITY_NOT_FOUND, CLIENT_SECRET_NOT_FOUND, AUDIT_UNAVAILABLE
   */
  async get(ctx: Context, raw: unknown): Promise<ClientSecretView> {
    const { id, identityId } = parse(OneClientSecret, raw);
    const identity = await this.#owner(ctx, { id, identityId }, 'identity:get-token');
    const place = { identityId: identity.id, id };
    const clientSecret = toClientSecretView(await findRow(ctx, ClientSecret, place, 'CLIENT_SECRET_NOT_FOUND'));
    await ctx.auditTrail.recordRead(ctx, { action: 'client-secret:get', facts: factsOf(clientSecret) });
    return clientSecret;
  }

  /**
   * Revokes a client secret and the tokens of its logins, at once on every node.
   *
   * @param raw `{ id, identityId? }`
   * @throws VALIDATION_FAILED, PERMISSION_DENIED, PERMISSION_BOUNDARY, IDENTITY_NOT_FOUND, CLIENT_SECRET_NOT_FOUND (revoked
   *   before, too), LAST_ADMIN when no lasting admin of an organization could log in any more, AUDIT_UNAVAILABLE
   */
  async revoke(ctx: Context, raw: unknown): Promise<ClientSecretView> {
    const { id, identityId } = parse(OneClientSecret, raw);
    return inTransaction(ctx, async (tx) => {
      const identity = await this.#owner(tx, { id, identityId }, 'identity:delete-token');
      protectInstallationAdmin(tx, identity);
      await authorizeCredentialsOf(tx, identity, 'identity:delete-token');
      const admins = await lockLoggedInAdmins(tx, [identity.id]);
      const row = await revoke(tx, { identityId: identity.id, id });
      // After the secret: its revocation waited for logins under way.
      const tokens = await tx.providers.revokeTokensOfClientSecret(tx, row.id);
      await keepLoggedInAdmins(tx, admins);
      const clientSecret = toClientSecretView(row);
      await audit(tx, 'client-secret:revoke', clientSecret, { tokens });
      return clientSecret;
    });
  }

  /**
   * Who logs in with a client secret, for who may do this to it.
   *
   * @throws PERMISSION_DENIED, CLIENT_SECRET_NOT_FOUND; IDENTITY_NOT_FOUND for an identity that was named
   */
  async #owner(
    ctx: Context,
    { id, identityId }: z.output<typeof OneClientSecret>,
    action: IdentityAction,
  ): Promise<IdentityView> {
    if (identityId != null) return this.identities.authorized(ctx, identityId, action);
    const { organizationId } = ctx;
    const row = isId(id) ? await emOf(ctx).findOne(ClientSecret, { id, identity: { organizationId } }) : null;
    return this.identities.authorized(ctx, row?.identityId ?? NO_ID, action, 'CLIENT_SECRET_NOT_FOUND');
  }
}

/** @throws CLIENT_SECRET_NOT_FOUND */
async function revoke(tx: Transaction, { identityId, id }: { identityId: string; id: string }): Promise<ClientSecret> {
  const revoked = tx.em
    .createQueryBuilder(ClientSecret)
    .update({ isRevoked: true, updatedAt: sql`now()` })
    .where({ identityId, id, isRevoked: false })
    .returning('*');
  const [row] = isId(id) ? await revoked.execute<ClientSecret[]>('all') : [];
  if (row === undefined) throw new AppError('CLIENT_SECRET_NOT_FOUND');
  return row;
}

const factsOf = ({ id, identityId }: ClientSecretView) => ({ clientSecretId: id, identityId });

const audit = (tx: Transaction, action: string, row: ClientSecretView, further: AuditFacts = {}): Promise<void> =>
  tx.auditTrail.recordChange(tx, { action, facts: { ...factsOf(row), ...further } });

/** A client secret as services pass it on: everything but the secret itself. */
type ClientSecretView = ReturnType<typeof toClientSecretView>;

/** A client secret that was just made: the only moment at which it is there to be shown. */
interface IssuedClientSecret {
  readonly clientSecret: string;
  readonly clientSecretData: ClientSecretView;
}

const toClientSecretView = (row: Omit<ClientSecret, 'secretHash' | 'identity'>) => ({
  id: row.id,
  identityId: row.identityId,
  description: row.description,
  prefix: row.prefix,
  ttlSeconds: row.ttlSeconds,
  useCount: toInt(row.numUses),
  useLimit: row.numUsesLimit,
  lastUsedAt: row.lastUsedAt ?? null,
  isRevoked: row.isRevoked,
  expiresAt: row.expiresAt ?? null,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

/** Client secrets by id, for who may read those of their identities. */
export const clientSecretsByIds: BatchLoad<ClientSecretView> = async (ctx, ids) => {
  const { organizationId } = ctx;
  const rows = await emOf(ctx).find(ClientSecret, { id: { $in: ids }, identity: { organizationId } });
  const found = await readableOwned(ctx, {
    keys: ids,
    rows: await withOwners(ctx, rows, 'id'),
    action: 'identity:get-token',
  });
  return mapFound(found, ({ row }) => toClientSecretView(row));
};
