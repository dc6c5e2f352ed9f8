import type { Config } from '../config.js';
import type { Feature } from '../feature.js';
import { AuditChain } from '../kernel/audit/audit-chain.js';
import type { Kernel } from '../kernel/context.js';
import { openRootKeys, recordInstallation } from '../kernel/crypto/installation.js';
import type { RootKeys } from '../kernel/crypto/root-keys.js';
import type { Database } from '../kernel/database/database.js';
import { migrate } from '../kernel/database/migrate.js';
import type { ServiceRole, TableRights } from '../kernel/database/service-role.js';
import type { Log } from '../kernel/log.js';
import { bootstrap } from './bootstrap.js';
import { keepToken } from './bootstrap-token.js';
import type { DatabaseServer } from './database-server.js';
import { type KernelParts, makeKernel } from './make-kernel.js';
import { prepareServiceRole, takeServiceRole, type WorkingRole } from './service-role.js';
import { systemContext } from './system-context.js';

/** The kernel of a node, and what its start has found. */
export interface Opened extends WorkingRole {
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
