import type { Config } from '../config.js';
import type { Feature } from '../feature.js';
import { AuditChain } from '../kernel/audit/audit-chain.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import type { Kernel } from '../kernel/context.js';
import { openRootKeys, recordInstallation } from '../kernel/crypto/installation.js';
import type { RootKeys } from '../kernel/crypto/root-keys.js';
import { type Address, Database } from '../kernel/database/database.js';
import { migrate } from '../kernel/database/migrate.js';
import {
  checkServiceRole,
  ensureServiceRole,
  grantToServiceRole,
  type ServiceRole,
  setRowSecurity,
  switchToServiceRole,
  type TableRights,
} from '../kernel/database/service-role.js';
import { findSession } from '../kernel/database/service-role.sql.js';
import type { Log } from '../kernel/log.js';
import { bootstrap, keepToken } from './bootstrap.js';
import type { DatabaseServer } from './database-server.js';
import { type KernelParts, makeKernel } from './make-kernel.js';
import { systemContext } from './system-context.js';

/** The kernel of a node, and what its start has found. */
interface Opened extends WorkingRole {
  readonly kernel: Kernel;
  readonly auditChain: AuditChain;
  readonly bootstrapToken: string | null;
  /** Names the buckets of rate limits in the database. */
  readonly limitKey: Buffer;
}

/**
 * Checks the root key before anything is written, migrates, prepares the slices, makes the first admin of an empty database, and leaves the role
 * of the owner.
 */
export async function openKernel(
  database: Database,
  config: Config,
  {
    preparations,
    tableRights,
    log,
    server,
    ...parts
  }: KernelParts & { readonly preparations: readonly NonNullable<Feature['prepare']>[] } & {
    readonly tableRights: TableRights;
    readonly log: Log;
    readonly server: DatabaseServer;
  },
): Promise<Opened> {
  let rootKeys: RootKeys | undefined;
  let opened: (Omit<Opened, keyof WorkingRole> & { readonly role: ServiceRole | null }) | undefined;
  await migrate(
    database,
    async () => {
      rootKeys = await openRootKeys(database.query, config, log);
    },
    async () => {
      if (rootKeys === undefined) throw new Error('migrations ran before the root key was checked');
      const keys = await recordInstallation(database.query, rootKeys);
      const kernel = makeKernel(database, keys, { ...parts, ...config });
      const auditChain = new AuditChain(keys.macKey('audit-seal'));
      const contextOf = (organizationId: string) => systemContext(kernel, organizationId);
      for (const prepare of preparations) await prepare(contextOf);
      const bootstrapToken = await bootstrap(kernel, config, (token) => keepToken(config.dataDir, token));
      const role = await prepareServiceRole(database, config, { ...server, tableRights });
      opened = { kernel, auditChain, bootstrapToken, limitKey: keys.macKey('rate-limits'), role };
    },
  );
  if (opened === undefined) throw new Error('the migration lock was never taken');
  return { ...opened, ...(await takeServiceRole(database, opened.role, { server, config, log })) };
}

type Server = Pick<DatabaseServer, 'url' | 'serviceUrl' | 'pooler'>;

/**
 * Grants what the service needs to the role that it works with. Runs under the migration lock, on the migrated schema.
 *
 * @returns null when the service is to work as the owner
 * @throws ConfigurationError when `DATABASE_URL` names a user that can do all that the owner can
 */
async function prepareServiceRole(
  database: Database,
  { databaseRole, hasRowSecurity }: Pick<Config, 'databaseRole' | 'hasRowSecurity'>,
  { serviceUrl, pooler, tableRights }: Pick<Server, 'serviceUrl' | 'pooler'> & { readonly tableRights: TableRights },
): Promise<ServiceRole | null> {
  if (databaseRole === 'owner') return null;
  const login = serviceUrl === null ? null : await userOf({ url: serviceUrl, pooler });
  return database.withConnection(async (query, session) => {
    const found = await (login === null ? ensureServiceRole(query) : checkServiceRole(query, login));
    if ('role' in found) {
      await grantToServiceRole(session, found.role, tableRights);
      await setRowSecurity(query, hasRowSecurity);
    }
    if ('reason' in found && login !== null)
      throw new ConfigurationError([`DATABASE_URL cannot be used: ${found.reason}`]);
    return found;
  });
}

async function userOf(at: Address): Promise<string> {
  const database = await Database.connect(at, {});
  try {
    const [session] = await findSession(database.query, {});
    return session?.role ?? '';
  } finally {
    await database.close();
  }
}

/** What the service works with. */
interface WorkingRole {
  readonly databaseRole: Config['databaseRole'];
}

/**
 * Leaves the owner's role: the connections of the service work with the other one from now on.
 *
 * @throws ConfigurationError when `DATABASE_URL` and `DATABASE_OWNER_URL` name different databases
 */
async function takeServiceRole(
  database: Database,
  found: ServiceRole | null,
  { server: { serviceUrl }, config, log }: { server: Server; config: Pick<Config, 'hasRowSecurity'>; log: Log },
): Promise<WorkingRole> {
  if (found === null) return { databaseRole: 'owner' };
  const stays = (reason: string): WorkingRole => {
    log.warn('database role not restricted', { reason });
    return { databaseRole: 'owner' };
  };
  if ('reason' in found) return stays(found.reason);
  if (await switchToServiceRole(database, found.role, { login: serviceUrl, isBounded: config.hasRowSecurity }))
    return { databaseRole: 'service' };
  if (serviceUrl === null)
    return stays('connections do not have the role that they ask for; is there a pooler between?');
  throw new ConfigurationError([
    'DATABASE_URL and DATABASE_OWNER_URL name different databases, or their users have different search paths',
  ]);
}
