import { access, constants } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { assemble } from '../app.js';
import { BackupError } from '../backup/backup-file.js';
import { type Restored, type RestoreOrder, restoreBackup } from '../backup/restore-backup.js';
import { readConfig } from '../config.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import { Database } from '../kernel/database/database.js';
import { createLog } from '../kernel/log.js';
import { migrations } from '../migrations/index.js';
import { openDatabaseServer } from '../start/database-server.js';
import { runProgram } from './run-program.js';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const USAGE = `npm run restore -- FILE --tokens keep|revoke [--to-next-root-key]

Restores a backup that \`npm run backup\` wrote, into an empty database: that of DATABASE_URL, or a new embedded one in DATA_DIR. Use the
settings of the service, with the root key that the installation had (ROOT_KEY, or DATA_DIR/root-key). The file is checked first, and
what was stored is compared with it. If anything fails, the database stays empty.

--tokens keep     tokens and client secrets are as in the backup: those that were revoked after it are valid again
--tokens revoke   all of them are revoked; get in with \`npm run recover-admin\`
--to-next-root-key   NEXT_ROOT_KEY becomes the root key of the restored database; configure it as ROOT_KEY then

Jobs that call other systems (rotations, alerts, notifications, checks) are paused until you resume them, so that a copy does not change
accounts of the original.

Exit codes: 0 done, 1 the file is not a complete backup or the restore failed, 2 usage error,
75 the database or transit is away, 78 configuration error.
`;

interface Order {
  readonly file: string;
  readonly revokesTokens: boolean;
  readonly changesRootKey: boolean;
}

/** `npm run restore -- FILE --tokens keep|revoke`: makes a database from a backup. */
async function main(): Promise<number> {
  const order = readArguments();
  if (order === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (order === null) {
    process.stderr.write(USAGE);
    return EXIT_USAGE;
  }
  const config = readConfig();
  if (order.changesRootKey && config.nextRootKey === null)
    throw new ConfigurationError(['--to-next-root-key needs NEXT_ROOT_KEY']);
  // Before a database is made for it.
  await access(order.file, constants.R_OK);
  const assembly = assemble();
  const server = await openDatabaseServer(config, createLog('silent'));
  try {
    const database = await Database.connect(server, { entities: assembly.entities, migrations });
    try {
      const whole = {
        ...order,
        pausedKinds: assembly.jobs.filter(({ staysInside }) => staysInside !== true).map(({ name }) => name),
        persistedDocuments: config.persistedDocuments.file,
      };
      const kernel = { ...assembly, publicUrl: config.publicUrl };
      const restored = await restoreBackup(database, whole, { keys: config, kernel });
      process.stdout.write(describe(restored, whole));
      return 0;
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      process.stderr.write(`strongroom: ${error.message}. Nothing was restored.\n`);
      return EXIT_FAILED;
    } finally {
      await database.close();
    }
  } finally {
    await server.stop();
  }
}

function readArguments(): Order | 'help' | null {
  try {
    const { values, positionals } = parseArgs({
      options: {
        tokens: { type: 'string' },
        'to-next-root-key': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
    if (values.help === true) return 'help';
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0 || !['keep', 'revoke'].includes(values.tokens ?? '')) return null;
    return { file, revokesTokens: values.tokens === 'revoke', changesRootKey: values['to-next-root-key'] === true };
  } catch {
    return null;
  }
}

function describe(
  { header, manifest, ...restored }: Restored,
  { revokesTokens, changesRootKey, pausedKinds }: RestoreOrder,
): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const { revokedTokenCount, revokedClientSecretCount } = restored;
  return [
    `Restored ${rows} rows of ${manifest.tables.length} tables, as they were at ${header.createdAt}.`,
    revokesTokens
      ? `Revoked ${revokedTokenCount} tokens and ${revokedClientSecretCount} client secrets. Get in with \`npm run recover-admin\`.`
      : 'Tokens and client secrets are as in the backup: those that were revoked after it are valid again.',
    `Paused jobs: ${pausedKinds.join(', ')}. Resume each kind when the original does not run any more: see "Restore" in operating.md.`,
    ...(changesRootKey ? ['NEXT_ROOT_KEY is the root key of the restored database: configure it as ROOT_KEY.'] : []),
    ...(restored.documentsProblem === null ? [] : [`PERSISTED_DOCUMENTS: ${restored.documentsProblem}.`]),
    `Verify the audit trail: \`npm run verify-audit${header.auditHead === null ? '' : ` -- --anchor ${header.auditHead}`}\``,
    '',
  ].join('\n');
}

runProgram(main, { event: 'restore failed', code: EXIT_FAILED });
