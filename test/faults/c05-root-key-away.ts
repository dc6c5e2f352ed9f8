import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Service } from '../kit/service.ts';
import { tableContents } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { withPostgres } from './installation.ts';

const CONFIGURATION = 78;
const NOBODY = 65_534;

/** What becomes of a key: how it is configured, and whether the service takes it. */
interface Case {
  readonly name: string;
  readonly rootKey: string;
  readonly isTaken: boolean;
}

/** A file of each kind of owner and mode. Only those of root can be made by root alone. */
async function cases(directory: string, key: string): Promise<Case[]> {
  const isRoot = process.getuid?.() === 0;
  const file = async (name: string, mode: number, isTaken: boolean, owner?: number): Promise<Case> => {
    const path = join(directory, name);
    await writeFile(path, `${key}\n`);
    if (owner !== undefined) await chown(path, owner, owner);
    await chmod(path, mode);
    return { name, rootKey: `file:${path}`, isTaken };
  };
  return [
    { name: 'not configured', rootKey: '', isTaken: false },
    { name: 'a file that is absent', rootKey: `file:${directory}/none`, isTaken: false },
    await file('readable by all', 0o644, false),
    await file('readable by the group', 0o640, false),
    await file('writable by the group', 0o660, false),
    await file('its own', 0o600, true),
    ...(isRoot
      ? [
          await file('of root, 0440', 0o440, true),
          await file('of root, 0444', 0o444, true),
          await file('of another, 0444', 0o444, false, NOBODY),
        ]
      : []),
  ];
}

/** Starts a service on the used database, and says what is wrong with what it did. */
async function judge(databaseUrl: string, { name, rootKey, isTaken }: Case): Promise<void> {
  const before = await tableContents(databaseUrl);
  const service = await Service.spawn({ env: { DATABASE_URL: databaseUrl, ROOT_KEY: rootKey } });
  if (isTaken) {
    await service.ready(30_000);
    const isWarned = service.output.includes('"msg":"root key readable by others"');
    expectThat(isWarned === name.startsWith('of root'), `a key ${name} left this in the log:\n${service.output}`);
    await service.stop();
    return;
  }
  const code = await service.exit();
  const left = await readdir(service.dataDir);
  await service.dispose();
  expectThat(code === CONFIGURATION, `a key ${name} ended with ${code}:\n${service.output}`);
  expectThat(!left.includes('root-key'), `a key ${name} made the service generate another one`);
  expectThat(isDeepStrictEqual(await tableContents(databaseUrl), before), `a key ${name} changed a table`);
}

export const check: Check = {
  id: 'C05',
  title: 'root keys that are missing or that others may read',
  fullTimes: 3,
  needsQuiet: true,
  run: (times) =>
    withPostgres(async (freshDatabase) => {
      const directory = await mkdtemp(join(tmpdir(), 'strongroom-keys-'));
      let analysed = 0;
      try {
        await repeat(times, async (index) => {
          const key = randomBytes(32).toString('base64');
          const databaseUrl = await freshDatabase(`keys_${index}`);
          await (await Service.start({ env: { DATABASE_URL: databaseUrl, ROOT_KEY: key } })).stop();
          for (const one of await cases(directory, key)) {
            await judge(databaseUrl, one);
            analysed += 1;
          }
        });
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
      return `${analysed} keys, each refused or taken as it should be, 0 keys generated, 0 tables changed`;
    }),
};
