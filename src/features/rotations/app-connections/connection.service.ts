import { raw as sql } from '@mikro-orm/core';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { loadRow, lockRow } from '../../../kernel/database/rows.js';
import { AppError, invalid } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import { type Page, pageOf } from '../../../kernel/paging.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import type { ProjectReader } from '../../projects/public.js';
import { AppConnection } from './connection.entity.js';
import {
  ConnectionByName,
  type ConnectionRules,
  ListConnections,
  ListUsable,
  OneConnection,
} from './connection.rules.js';
import {
  type ConnectionRow,
  findConnectionByName,
  findConnections,
  listConnections,
  listUsable,
  lockAccount,
  NEXT_CHECK,
} from './connection.sql.js';
import type { ConnectionAccess } from './connection-access.js';
import { type Credentials, checkInRequest, checkStored, inTime, storeResult } from './connection-checks.js';
import { digestOfAccount, openSecrets, sealCredentials, sealedFields } from './connection-sealing.js';
import { refuseConnectionInUse, refuseOwnedAccount } from './connection-uses.js';
import { refusalOf, TargetFailure } from './kind/target-failure.js';
import { type AnyKind, type App, kindOf, systemOf } from './kinds.js';
import { recordResponse } from './unresponsive-targets.js';

const NOT_FOUND = 'APP_CONNECTION_NOT_FOUND';
const CONSTRAINTS = {
  app_connection_name_unique: 'APP_CONNECTION_NAME_TAKEN',
  app_connection_project_id_fkey: 'PROJECT_NOT_FOUND',
  secret_rotation_connection_id_fkey: 'CONNECTION_IN_USE',
  credential_debt_connection_id_fkey: 'CONNECTION_IN_USE',
} as const;

/** One page of connections and the total count. */
export type ListedConnections = Page<ConnectionRow> & { readonly totalCount: () => Promise<number> };

/**
 * App connections: credentials for external systems, of an organization or a project. New credentials are checked
 * against the external system before they are stored, outside of any transaction.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class ConnectionService {
  constructor(
    private readonly access: ConnectionAccess,
    private readonly projects: ProjectReader,
    private readonly rules: ConnectionRules,
    private readonly policy: TargetPolicy,
  ) {}

  /**
   * Creates a connection after the external system accepted its credentials.
   *
   * @throws PROJECT_NOT_FOUND, APP_CONNECTION_NAME_TAKEN, UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE; ACCOUNT_ROTATED if a rotation replaces
   *   the credentials of the account
   */
  async create(ctx: Context, raw: unknown): Promise<ConnectionRow> {
    const { credentials: given, projectId: requested, name, description = null } = parse(this.rules.create, raw);
    await this.access.authorize(ctx, requested, 'create');
    const { kind, credentials } = givenCredentials(given);
    const account = await this.#check(ctx, kind, credentials);
    return inTransaction(ctx, async (tx) => {
      // Authorized again: permissions may have changed during the check.
      const projectId = await this.access.authorize(tx, requested, 'create');
      const { organizationId } = tx;
      const { app, method } = kind;
      const place = { id: newId(), organizationId, projectId, credentialsVersion: 1 };
      const accountDigest = await this.#digestOf(tx, app, account);
      const sealed = await sealCredentials(tx, place, credentials);
      const stored = { ...place, ...sealed, accountDigest, app, method, name, description };
      const checked = { ...justChecked(), nextCheckAt: sql(NEXT_CHECK) };
      await withConstraintCodes(() => tx.em.insert(AppConnection, { ...stored, ...checked }), CONSTRAINTS);
      const row = await changed(tx, 'app-connection:create', { ...place, app }, { credentialsChanged: true });
      await recordResponse(tx, row.target, RESPONDED);
      return row;
    });
  }

  /**
   * Updates a connection. New credentials are checked against the external system first; absent fields keep their value.
   *
   * @throws APP_CONNECTION_NOT_FOUND, APP_CONNECTION_NAME_TAKEN, ACCOUNT_ROTATED, UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE; CONCURRENT_CHANGE if
   *   `expectedVersion` differs or the connection changed during the check; SEALED_VALUE_INVALID if a secret to be kept cannot be decrypted;
   *   CONNECTION_IN_USE if it would lead to another system or account while credentials that were created with it are not known to be revoked
   * Source: operation 15 of the specification.
   */
  async update(ctx: Context, raw: unknown): Promise<ConnectionRow> {
    const {
      id,
      app,
      projectId,
      expectedVersion,
      name,
      description,
      credentials: given,
    } = parse(this.rules.update, raw);
    const seen = await this.access.load(ctx, { id, app }, 'edit');
    refuseOtherProject(seen, projectId);
    refuseOtherVersion(seen.version, expectedVersion);
    const credentials = given === undefined ? null : await changedCredentials(ctx, seen, given);
    const leadsElsewhere = credentials !== null && isElsewhere(seen, credentials);
    // Before anything is sent to the other system.
    if (leadsElsewhere)
      await refuseConnectionInUse(
        ctx,
        this.projects,
        await ctx.providers.listConnectionHolds(ctx, { connectionId: seen.id }),
      );
    const account = credentials === null ? null : await this.#check(ctx, kindOf(seen.app), credentials);
    return inTransaction(ctx, async (tx) => {
      await this.access.load(tx, { id }, 'edit');
      const connection = await lockRow(
        tx,
        AppConnection,
        { id: seen.id, organizationId: tx.organizationId },
        NOT_FOUND,
      );
      // The checked credentials were merged with those of the version that was read.
      refuseOtherVersion(connection.version, credentials === null ? expectedVersion : seen.version);
      // Again: the row is locked by now, and a new rotation or pending revocation, which references it, waits until this transaction has ended.
      if (leadsElsewhere)
        await refuseConnectionInUse(
          tx,
          this.projects,
          await tx.providers.listConnectionHolds(tx, { connectionId: seen.id }),
        );
      const accountDigest = await this.#digestOf(tx, seen.app, account);
      const place = { ...seen, credentialsVersion: connection.credentialsVersion + 1 };
      tx.em.assign(connection, {
        name: name ?? connection.name,
        description: description === undefined ? connection.description : description,
        version: connection.version + 1,
        updatedAt: sql('now()'),
        ...(credentials === null
          ? {}
          : { ...(await sealCredentials(tx, place, credentials)), accountDigest, ...justChecked() }),
      });
      await flush(tx, CONSTRAINTS);
      const row = await changed(tx, 'app-connection:update', seen, { credentialsChanged: credentials !== null });
      // Its system has just accepted the credentials.
      if (credentials !== null) await recordResponse(tx, row.target, RESPONDED);
      return row;
    });
  }

  /** Deletes a connection that no rotation uses. @returns the deleted connection @throws APP_CONNECTION_NOT_FOUND, CONNECTION_IN_USE */
  delete(ctx: Context, raw: unknown): Promise<ConnectionRow> {
    const ref = parse(OneConnection, raw);
    return inTransaction(ctx, async (tx) => {
      const row = await this.access.load(tx, ref, 'delete');
      const connection = await lockRow(tx, AppConnection, { id: row.id, organizationId: tx.organizationId }, NOT_FOUND);
      await refuseConnectionInUse(
        tx,
        this.projects,
        await tx.providers.listConnectionHolds(tx, { connectionId: row.id }),
      );
      const before = await changed(tx, 'app-connection:delete', row);
      tx.em.remove(connection);
      await flush(tx, CONSTRAINTS);
      return before;
    });
  }

  /**
   * Returns one connection.
   *
   * @throws APP_CONNECTION_NOT_FOUND
   * Source: operation 14 of the specification.
   */
  async get(ctx: Context, raw: unknown): Promise<ConnectionRow> {
    const row = await this.access.load(ctx, parse(OneConnection, raw), 'read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Returns one connection by name. @throws PROJECT_NOT_FOUND, APP_CONNECTION_NOT_FOUND */
  async getByName(ctx: Context, raw: unknown): Promise<ConnectionRow> {
    const { projectId: requested, ...ref } = parse(ConnectionByName, raw);
    const projectId = await this.access.authorize(ctx, requested, 'read');
    const { organizationId } = ctx;
    const row = await loadRow(ctx, findConnectionByName, { ...ref, organizationId, projectId }, NOT_FOUND);
    await this.access.load(ctx, row, 'read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /**
   * Lists connections by name: those of a project, or of the organization and all its projects. Only those that the caller can read.
   *
   * @throws PROJECT_NOT_FOUND
   * Source: operation 13 of the specification.
   */
  async list(ctx: Context, raw: unknown): Promise<ListedConnections> {
    const { projectId: requested, app = null, ...page } = parse(ListConnections, raw);
    const projectId = await this.access.authorize(ctx, requested, 'read');
    const { organizationId } = ctx;
    const all = await listConnections(ctx, { organizationId, projectId, app });
    const rows = await this.access.allowed(ctx, projectId, 'read', all);
    const shown = orderedPageOf(rows, page, { orderable: (row) => row });
    const facts = { count: shown.nodes.length, app };
    await ctx.auditTrail.recordRead(ctx, { action: 'app-connection:list', projectId, facts });
    return Object.assign(shown, { totalCount: async () => rows.length });
  }

  /** Lists connections that the caller can use (`connect`), by name: of the organization and of a project. @throws PROJECT_NOT_FOUND */
  async listUsable(ctx: Context, raw: unknown): Promise<ListedConnections> {
    const { projectId: requested = null, app = null, ...page } = parse(ListUsable, raw);
    const { organizationId } = ctx;
    const rows = await this.access.usable(ctx, requested, (projectId) =>
      listUsable(ctx, { organizationId, projectId, app }),
    );
    const shown = pageOf(rows, page, 2, ({ name, id }) => [name, id]);
    const facts = { count: shown.nodes.length, app };
    await ctx.auditTrail.recordRead(ctx, { action: 'app-connection:list-usable', projectId: requested, facts });
    return Object.assign(shown, { totalCount: async () => rows.length });
  }

  /** Checks the credentials against the external system and stores the result. @throws APP_CONNECTION_NOT_FOUND */
  async check(ctx: Context, raw: unknown): Promise<ConnectionRow> {
    const ref = parse(OneConnection, raw);
    const seen = await this.access.load(ctx, ref, 'connect');
    const since = performance.now();
    const result = await checkStored(ctx, seen, this.policy, inTime);
    return inTransaction(ctx, async (tx) => {
      const row = await this.access.load(tx, ref, 'connect');
      await storeResult(tx, seen, result);
      // Of the system that was called: by now the connection may lead to another one.
      if (result.failure !== undefined) await recordResponse(tx, seen.target, { failure: result.failure, since });
      return changed(tx, 'app-connection:check', row, { checkCode: result.code });
    });
  }

  /** The apps that can be connected. Needs no permissions. */
  async listKinds<T>(ctx: Context, kinds: () => readonly T[]): Promise<readonly T[]> {
    await ctx.auditTrail.recordRead(ctx, { action: 'app-connection:list-kinds', facts: {} });
    return kinds();
  }

  /** The digest of the account that a connection logs in to, which stays locked. @throws ACCOUNT_ROTATED if a rotation would lock it out */
  async #digestOf(tx: Transaction, app: App, account: SealedText | null): Promise<Buffer | null> {
    const digest = await digestOfAccount(tx, app, account);
    if (digest === null) return null;
    await lockAccount(tx, { digest });
    const { organizationId } = tx;
    const owners = await tx.providers.listAccountOwners(tx, { organizationId, accountDigest: digest });
    await refuseOwnedAccount(tx, this.projects, owners);
    return digest;
  }

  /**
   * @returns the account that they log in to; null if it is not known
   * @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE; VALIDATION_FAILED for a target that must not be called
   */
  async #check(ctx: Context, kind: AnyKind, credentials: Credentials): Promise<SealedText | null> {
    try {
      return await checkInRequest(ctx, kind, credentials, this.policy);
    } catch (error) {
      if (!(error instanceof TargetFailure)) throw error;
      const { app, targetField } = kind;
      throw refusalOf(error, error.code === 'TARGET_REFUSED' ? `credentials.${app}.${targetField}` : 'credentials');
    }
  }
}

/** Whether new credentials belong to another system or account. */
const isElsewhere = (row: ConnectionRow, { publicPart }: Credentials): boolean =>
  systemOf({ ...row, publicPart }) !== systemOf(row);

/** A call that the external system has answered. */
const RESPONDED = { failure: null, since: 0 } as const;

/** State of a connection whose credentials were just accepted. */
const justChecked = () => ({
  checkState: 'working' as const,
  checkCode: null,
  checkFailures: 0,
  failingSince: null,
  checkedAt: sql('now()'),
});

/** @throws VALIDATION_FAILED */
function refuseOtherProject(row: ConnectionRow, given: string | null | undefined): void {
  if (given === undefined || (given?.toLowerCase() ?? null) === row.projectId) return;
  throw validationFailed([{ path: 'projectId', code: 'UNCHANGEABLE', message: 'cannot change' }]);
}

type ConnectionRef = Pick<ConnectionRow, 'id' | 'projectId' | 'app'>;

async function changed(
  tx: Transaction,
  action: string,
  { id, projectId, app }: ConnectionRef,
  facts: AuditFacts = {},
): Promise<ConnectionRow> {
  await tx.auditTrail.recordChange(tx, { action, projectId, facts: { connectionId: id, app, ...facts } });
  return loadRow(tx, findConnections, { organizationId: tx.organizationId, ids: [id] }, NOT_FOUND);
}

/** The audit record of reading a connection. */
export const auditOfRead = ({ id, projectId, app }: ConnectionRef) => ({
  action: 'app-connection:get',
  projectId,
  facts: { connectionId: id, app },
});

/** Credentials by app; the rules guarantee exactly one. */
type GivenByApp = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** The app of given credentials with its public and secret fields. */
function givenCredentials(given: GivenByApp): { readonly kind: AnyKind; readonly credentials: Credentials } {
  const [[app, fields] = ['', undefined]] = Object.entries(given).filter(
    ([, credentials]) => credentials !== undefined,
  );
  const kind = kindOf(app);
  return { kind, credentials: split(kind, fields ?? {}) };
}

function split({ secretRules }: AnyKind, fields: Readonly<Record<string, unknown>>): Credentials {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const isSecret = ([field]: [string, unknown]): boolean => field in secretRules.shape;
  return {
    publicPart: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: sealedFields(Object.fromEntries(entries.filter(isSecret))),
  };
}

/**
 * The credentials of a connection after an update.
 *
 * @returns null if they do not change
 * @throws VALIDATION_FAILED for credentials of another app, and for a new target without the secrets, because stored secrets must not be
 *   sent to a new target; SEALED_VALUE_INVALID if a secret to be kept cannot be decrypted
 */
async function changedCredentials(ctx: Context, row: ConnectionRow, given: GivenByApp): Promise<Credentials | null> {
  const kind = kindOf(row.app);
  const fields = given[row.app];
  if (fields === undefined)
    throw validationFailed([invalid('credentials', `must be credentials of the app ${row.app}`)]);
  const { publicPart, secrets } = split(kind, fields);
  const after = { ...row.publicPart, ...publicPart };
  const missing = Object.keys(kind.secretRules.shape).filter((field) => secrets[field] === undefined);
  if (kind.targetOf(after) !== kind.targetOf({ ...row.publicPart }) && missing.length > 0)
    throw validationFailed(
      missing.map((field) => ({
        path: `credentials.${row.app}.${field}`,
        code: 'MISSING',
        message: `required because ${kind.targetField} changes`,
      })),
    );
  const stored = await openedOrNull(ctx, kind, row, missing.length === 0);
  const isSame =
    stored !== null &&
    Object.entries(secrets).every(([field, secret]) => stored[field]?.equals(secret) === true) &&
    asText(after) === asText(row.publicPart);
  return isSame ? null : { publicPart: after, secrets: { ...stored, ...secrets } };
}

const asText = (fields: object): string => JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The stored secrets; null if they cannot be decrypted and all are replaced. @throws SEALED_VALUE_INVALID */
async function openedOrNull(ctx: Context, kind: AnyKind, row: ConnectionRow, isReplaced: boolean) {
  try {
    return await openSecrets(ctx, kind, row);
  } catch (error) {
    if (isReplaced && error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return null;
    throw error;
  }
}
