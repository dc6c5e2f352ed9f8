import { parseArgs } from 'node:util';
import { assemble } from '../app.js';
import { readConfig } from '../config.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import { Database } from '../kernel/database/database.js';
import type { RowFrom } from '../kernel/database/statement.js';
import { migrations } from '../migrations/index.js';
import { recoverAdmin } from '../start/bootstrap.js';
import { findOrganizationNamed } from '../start/bootstrap.queries.js';
import { makeKernel } from '../start/make-kernel.js';
import { systemContext } from '../start/system-context.js';
import { openExistingInstallation, openServer } from './program.js';
import { runProgram } from './run-program.js';

const EXIT_FAILED = 1;

const USAGE = `npm run recover-admin [-- --organization SLUG_OR_ID]

Makes a new admin for an installation in which no admin can log in any more: an identity "recovered-admin" with a token that is valid for
one day. Needs the database and the root key: use the settings of the service, DATABASE_URL and ROOT_KEY, or DATA_DIR. The service may
run meanwhile.

Without --organization it is an admin of the oldest root organization and of the installation. With it, only of that organization.
Standard output has the token and nothing else. It is not stored. The audit trail records the new admin.

Exit codes: 0 done, 1 failed, 75 the database or transit is away, 78 configuration error.
`;

/** `npm run recover-admin`: makes an admin for whoever has the database and the root key. */
async function main(): Promise<number> {
  const asked = readArguments();
  if (asked === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const config = readConfig();
  const server = await openServer(config);
  try {
    const assembly = assemble();
    const database = await Database.connect(server, { entities: assembly.entities, migrations });
    try {
      const keys = await openExistingInstallation(database, config);
      const kernel = makeKernel(database, keys, { ...assembly, publicUrl: config.publicUrl });
      const organization = await findOrganization(database, asked.organization);
      const { accessToken, identityId } = await recoverAdmin(systemContext(kernel, organization.id), organization);
      process.stderr.write(
        `Made the identity ${identityId}, "recovered-admin", an admin of the organization ${organization.slug}.\n` +
          'Its token is valid for one day and is shown only now. Give your own admins access with it, then delete the identity.\n',
      );
      process.stdout.write(`${accessToken}\n`);
      return 0;
    } finally {
      await database.close();
    }
  } finally {
    await server.stop();
  }
}

/** @throws ConfigurationError */
function readArguments(): { organization: string | null } | 'help' {
  try {
    const { values } = parseArgs({
      options: { organization: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    return values.help === true ? 'help' : { organization: values.organization ?? null };
  } catch {
    throw new ConfigurationError(['the only option is --organization, with the slug or the ID of an organization']);
  }
}

type Found = RowFrom<typeof findOrganizationNamed>;

/** @param asked slug of a root organization, or the ID of any; null for the oldest root organization. @throws ConfigurationError */
async function findOrganization(database: Database, asked: string | null): Promise<Found> {
  const [found] = await findOrganizationNamed(database.query, { name: asked });
  if (found === undefined)
    throw new ConfigurationError([
      '--organization names no organization: use the slug of a root organization, or an ID',
    ]);
  return found;
}

runProgram(main, { event: 'recovery failed', code: EXIT_FAILED });
