import { resolve } from 'node:path';
import { BackupError } from '../backup/backup-file.js';
import { takeBackup } from '../backup/take-backup.js';
import { readConfig } from '../config.js';
import { Database } from '../kernel/database/database.js';
import { migrations } from '../migrations/index.js';
import { openServer } from './program.js';
import { runProgram } from './run-program.js';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const USAGE = `npm run backup -- FILE

Writes a backup of the database of a service into FILE, which must not exist, as it is at one moment. The service may run meanwhile. Use
the settings of the service: DATABASE_URL, or DATA_DIR. The backup has every row that the service needs and its persisted documents. It
does not have the root key, without which nothing in it can be decrypted: keep that somewhere else.

Exit codes: 0 done, 1 failed and nothing was written, 2 usage error, 75 the database is away, 78 configuration error.
`;

/** `npm run backup -- FILE`: writes the database into a file. */
async function main(): Promise<number> {
  const [file, ...more] = process.argv.slice(2);
  if (file === '--help' || file === '-h') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (file === undefined || file.startsWith('-') || more.length > 0) {
    process.stderr.write(USAGE);
    return EXIT_USAGE;
  }
  const config = readConfig();
  const server = await openServer(config);
  try {
    const database = await Database.connect(server, { migrations });
    try {
      const backup = resolve(file);
      const { tables } = await takeBackup(database, { backup, persistedDocuments: config.persistedDocuments.file });
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      process.stdout.write(
        `Wrote ${rows} rows of ${tables.length} tables into ${backup}. The root key is not in it.\n`,
      );
      return 0;
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      process.stderr.write(`strongroom: ${error.message}\n`);
      return EXIT_FAILED;
    } finally {
      await database.close();
    }
  } finally {
    await server.stop();
  }
}

runProgram(main, { event: 'backup failed', code: EXIT_FAILED });
