import type { Config } from '../config.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import { type Address, Database } from '../kernel/database/database.js';
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
import type { DatabaseServer } from './database-server.js';

type Server = Pick<DatabaseServer, 'url' | 'serviceUrl' | 'pooler'>;

/**
 * Grants what the service needs to the role that it works with. Runs under the migration lock, on the migrated schema.
 *
 * @returns null when the service is to work as the owner
 * @throws ConfigurationError when `DATABASE_URL` names a user that can do all that the owner can
 */
export async function prepareServiceRole(
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
export interface WorkingRole {
  readonly databaseRole: Config['databaseRole'];
}

/**
 * Leaves the owner's role: the connections of the service work with the other one from now on.
 *
 * @throws ConfigurationError when `DATABASE_URL` and `DATABASE_OWNER_URL` name different databases
 */
export async function takeServiceRole(
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
