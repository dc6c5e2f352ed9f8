import { parseArgs } from 'node:util';
import { assemble } from '../app.js';
import { type Config, readConfig } from '../config.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import type { Context } from '../kernel/context.js';
import { cancelChange, type RootKeyChange, replaceCiphertext } from '../kernel/crypto/root-key-change.js';
import { providerOf } from '../kernel/crypto/root-key-sources.js';
import type { InstallationKeys } from '../kernel/crypto/root-keys.js';
import { Database, queryOf } from '../kernel/database/database.js';
import { inTransaction } from '../kernel/database/in-transaction.js';
import { createLog } from '../kernel/log.js';
import { migrations } from '../migrations/index.js';
import { findOrganizationNamed } from '../start/bootstrap.queries.js';
import { makeKernel } from '../start/make-kernel.js';
import { rotateRootKey } from '../start/root-key-rotation.js';
import { systemContext } from '../start/system-context.js';
import { openExistingInstallation, openServer } from './program.js';
import { runProgram } from './run-program.js';

const EXIT_FAILED = 1;

const USAGE = `npm run rotate-root-key [-- --rewrap | --cancel]

Encrypts the keys of all organizations with another root key. Values and keys of projects stay as they are. The service may run meanwhile.

1. Restart every node with ROOT_KEY, the present key, and NEXT_ROOT_KEY, the new one, in the same forms.
2. Run this program with the same settings. It makes one short transaction: interrupted at any point, the old root key is still the one of
   the database, and it can be run again.
3. Restart every node with the new key as ROOT_KEY and without NEXT_ROOT_KEY. Keep the old key for as long as you keep backups that need it.

--rewrap   with ROOT_KEY=transit:..., after its key was rotated there: has the same root key encrypted with the newest version of that key.
           NEXT_ROOT_KEY is not needed, and nodes need no restart.
--cancel   forgets the NEXT_ROOT_KEY=transit:... of a change that was begun and not made. Restart every node without NEXT_ROOT_KEY before.

Exit codes: 0 done, 1 failed, 75 the database or transit is away, 78 configuration error.
`;

/** `npm run rotate-root-key`: changes the root key of an installation to `NEXT_ROOT_KEY`. */
async function main(): Promise<number> {
  const order = readArguments();
  if (order === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const config = readConfig();
  if (order === 'rotate' && config.nextRootKey === null)
    throw new ConfigurationError(['NEXT_ROOT_KEY is not set; see npm run rotate-root-key -- --help']);
  if (order === 'cancel' && config.nextRootKey !== null)
    throw new ConfigurationError(['NEXT_ROOT_KEY is set; restart every node without it, then cancel the change']);
  const server = await openServer(config);
  try {
    const assembly = assemble();
    const database = await Database.connect(server, { entities: assembly.entities, migrations });
    try {
      const keys = await openExistingInstallation(database, config);
      const kernel = makeKernel(database, keys, { ...assembly, publicUrl: config.publicUrl });
      const ctx = systemContext(kernel, await rootOrganization(database));
      process.stdout.write(await ORDERS[order](keys, ctx, config));
      return 0;
    } finally {
      await database.close();
    }
  } finally {
    await server.stop();
  }
}

/** @throws ConfigurationError */
function readArguments(): 'rotate' | 'rewrap' | 'cancel' | 'help' {
  const FAULT = new ConfigurationError(['npm run rotate-root-key takes --rewrap, or --cancel, or nothing']);
  try {
    const { values } = parseArgs({
      options: { rewrap: { type: 'boolean' }, cancel: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help === true) return 'help';
    if (values.rewrap === true && values.cancel === true) throw FAULT;
    if (values.cancel === true) return 'cancel';
    return values.rewrap === true ? 'rewrap' : 'rotate';
  } catch {
    throw FAULT;
  }
}

async function rootOrganization(database: Database): Promise<string> {
  const [organization] = await findOrganizationNamed(database.query, { name: null });
  if (organization === undefined)
    throw new ConfigurationError(['the database has no organization; start the service on it once']);
  return organization.id;
}

/** Has transit encrypt the root key of the database with the newest version of its key. @throws ConfigurationError */
async function rewrap(keys: InstallationKeys, ctx: Context, config: Config): Promise<string> {
  const { inUse } = keys;
  const provider = providerOf(config, keys, createLog('silent'));
  const former = inUse.ciphertext();
  if (provider === null || former === null)
    throw new ConfigurationError([
      '--rewrap needs ROOT_KEY=transit:..., and a database whose root key transit encrypts',
    ]);
  const fresh = await provider.rewrap(former);
  await inTransaction(ctx, async (tx) => {
    await replaceCiphertext(queryOf(tx), former, fresh);
    await tx.auditTrail.recordChange(tx, { action: 'installation:rewrap-root-key', isKept: true });
  });
  return 'Transit has encrypted the root key with the newest version of its key.\n';
}

/** Forgets a change that was begun. */
async function cancel(_: InstallationKeys, ctx: Context): Promise<string> {
  const isCancelled = await inTransaction(ctx, async (tx) => {
    const wasBegun = await cancelChange(queryOf(tx));
    if (wasBegun) await tx.auditTrail.recordChange(tx, { action: 'installation:cancel-root-key-change', isKept: true });
    return wasBegun;
  });
  return isCancelled ? 'The change of the root key was cancelled.\n' : 'No change of the root key was begun.\n';
}

const ORDERS = {
  rotate: async (keys: InstallationKeys, ctx: Context, config: Config) =>
    describe(await ctx.database.withoutLimits(() => inTransaction(ctx, (tx) => rotateRootKey(tx, keys))), config),
  rewrap,
  cancel,
};

function describe(change: RootKeyChange | null, { rootKey }: Config): string {
  const next =
    rootKey === null
      ? 'Restart every node with the new key as ROOT_KEY, or as the file root-key in DATA_DIR, and without NEXT_ROOT_KEY.\n'
      : 'Restart every node with the new key as ROOT_KEY and without NEXT_ROOT_KEY.\n';
  if (change === null) return `The database has the new root key already.\n${next}`;
  const { rewrapped, unreadable } = change;
  const left =
    unreadable === 0 ? '' : `Keys that could not be decrypted before, and were left as they are: ${unreadable}\n`;
  return `The database has the new root key. Keys of organizations encrypted with it: ${rewrapped}\n${left}${next}`;
}

runProgram(main, { event: 'root key not rotated', code: EXIT_FAILED });
