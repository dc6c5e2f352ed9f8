import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { findUnused, insertToken } from '../features/identity/access/public.js';
import {
  DEFAULT_TTL_SECONDS,
  EVERYWHERE,
  insertIdentity,
  insertTokenAuth,
} from '../features/identity/identities/public.js';
import { Organization } from '../features/identity/organizations/public.js';
import type { Context, Kernel, Transaction } from '../kernel/context.js';
import { mintToken } from '../kernel/crypto/token.js';
import { type Query, queryOf } from '../kernel/database/database.js';
import { flush, inTransaction } from '../kernel/database/in-transaction.js';
import { writeDurably } from '../kernel/files.js';
import { newId } from '../kernel/ids.js';
import { makeDataDirectory } from '../kernel/postgres/data-directory.js';
import { findOrganizationNamed } from './bootstrap.queries.js';
import { systemContext } from './system-context.js';

interface NewAdmin {
  /** Of the identity. */
  readonly name: string;
  readonly organizationId: string;
  readonly isInstallationAdmin: boolean;
  readonly ttlSeconds: number;
  /** How long the token lasts unless it is used; absent: as long as one that is used. */
  readonly unusedSeconds?: number;
  readonly accessToken: string;
}

const DAY_SECONDS = 86_400;

/** Makes the first admin of a further root organization: an identity `admin` with a token of 30 days, which is shown once. */
export const createFirstAdmin = (
  tx: Transaction,
  organizationId: string,
): Promise<{ identityId: string; accessToken: string }> =>
  makeAdmin(tx, {
    name: 'admin',
    organizationId,
    isInstallationAdmin: false,
    ttlSeconds: DEFAULT_TTL_SECONDS,
    accessToken: mintToken(),
  });

/**
 * Makes the organization `default` and the admin of the installation in an empty database. Called under the migration
 * lock, so that of many nodes that start at once one does it.
 *
 * @returns the token of the admin, which expires after a day unless it is used, and never after that; null when the database has an
 *   organization already
 */
export async function bootstrap(
  kernel: Kernel,
  config: Pick<Config, 'bootstrapToken'>,
  prepareToken: (token: string) => Promise<void> = async () => undefined,
): Promise<string | null> {
  const [organization] = await findOrganizationNamed(kernel.database.query, { name: null });
  if (organization !== undefined) return null;
  const accessToken = config.bootstrapToken?.reveal() ?? mintToken();
  // Before the commit: a crash after it would leave an installation that nobody can enter.
  if (config.bootstrapToken === null) await prepareToken(accessToken);
  await inTransaction(systemContext(kernel, newId()), async (tx) => {
    tx.em.create(Organization, { id: tx.organizationId, name: 'Default', slug: 'default', parentId: null });
    await flush(tx);
    await tx.keyring.createOrganizationKey(queryOf(tx), tx.organizationId);
    const { identityId } = await makeAdmin(tx, {
      name: 'admin',
      organizationId: tx.organizationId,
      isInstallationAdmin: true,
      ttlSeconds: 0,
      // A first token that nobody used must not stay valid in logs and files.
      unusedSeconds: DAY_SECONDS,
      accessToken,
    });
    await tx.auditTrail.recordChange(tx, {
      action: 'installation:bootstrap',
      isKept: true,
      facts: { organizationId: tx.organizationId, identityId },
    });
  });
  return accessToken;
}

/**
 * Makes an admin of the organization of `ctx`, for an installation in which no admin can log in any more.
 *
 * @param isInstallation whether it is an admin of the installation too
 * @returns its identity, and its token, which is valid for one day
 */
export const recoverAdmin = (
  ctx: Context,
  { isInstallation }: { readonly isInstallation: boolean },
): Promise<{ identityId: string; accessToken: string }> =>
  inTransaction(ctx, async (tx) => {
    const { organizationId } = tx;
    const made = await makeAdmin(tx, {
      name: 'recovered-admin',
      organizationId,
      isInstallationAdmin: isInstallation,
      ttlSeconds: DAY_SECONDS,
      accessToken: mintToken(),
    });
    await tx.auditTrail.recordChange(tx, {
      action: 'installation:recover-admin',
      isKept: true,
      facts: { organizationId, identityId: made.identityId, isInstallationAdmin: isInstallation },
    });
    return made;
  });

async function makeAdmin(
  tx: Transaction,
  { name, organizationId, isInstallationAdmin, ttlSeconds, unusedSeconds, accessToken }: NewAdmin,
): Promise<{ identityId: string; accessToken: string }> {
  const identityId = await insertIdentity(tx, { name, organizationId, role: 'admin', isInstallationAdmin });
  const settings = {
    accessTokenTTL: ttlSeconds,
    accessTokenMaxTTL: ttlSeconds,
    accessTokenNumUsesLimit: 0,
  };
  await insertTokenAuth(tx, { identityId, accessTokenTrustedIps: EVERYWHERE, ...settings });
  const order = { owner: { identityId }, organizationId, ...settings };
  await insertToken(tx, unusedSeconds === undefined ? order : { ...order, unusedSeconds }, {
    name: 'first token',
    accessToken,
  });
  return { identityId, accessToken };
}

/** The token of the first admin that nobody has used yet. */
export interface UnusedToken {
  /** Absolute path of its file. */
  readonly file: string;
  /** It ended because nobody used it within a day. */
  readonly isExpired: boolean;
}

/** @returns absolute path of the file with the token of the first admin */
export const tokenFileIn = (dataDir: string): string => join(dataDir, 'bootstrap-token');

/**
 * The token of the first admin is on disk, readable by the owner alone, before it is in the database.
 *
 * @throws ConfigurationError when `DATA_DIR` cannot be made
 */
export async function keepToken(dataDir: string, token: string): Promise<void> {
  await makeDataDirectory(dataDir);
  await writeDurably(tokenFileIn(dataDir), `${token}\n`);
}

/**
 * Finds the token of the first admin that nobody has used yet: a first start may have failed after the token was made, and its output
 * may be lost.
 *
 * @returns null when there is no such file, or its token was used or revoked
 */
export async function findUnusedToken(dataDir: string, query: Query): Promise<UnusedToken | null> {
  const file = tokenFileIn(dataDir);
  // A file that cannot be read must not keep the service from starting.
  const text = await readFile(file, 'utf8').catch(() => '');
  const token = await findUnused(query, text.trim());
  return token === null ? null : { file, isExpired: token.isExpired };
}
