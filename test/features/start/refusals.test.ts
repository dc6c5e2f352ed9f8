import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { freshDatabase, migratedDatabase } from '../../kit/databases.js';
import { embeddedPostgres } from '../../kit/processes.js';
import { runProgram } from '../../kit/programs.js';
import { Service } from '../../kit/service.js';
import { tableContents } from '../../kit/tables.js';

const ONE_LINE = /^strongroom: [^\n]+\n$/;

/** What a start printed that must not come up, and its exit code. */
async function refusedStart(
  env: Record<string, string>,
  dataDir?: string,
): Promise<{ code: number | null; output: string }> {
  const service = await Service.spawn({ env, ...(dataDir === undefined ? {} : { dataDir }) });
  const code = await service.exit();
  await service.dispose();
  return { code, output: service.output };
}

describe('a wrong configuration', () => {
  test('is refused whole: 25 faults are 25 lines on standard error without a value, and exit code 78', async () => {
    const wrong = {
      PORT: '65536-canary',
      HOST: 'host canary',
      DATABASE_URL: 'mysql://canary@db/strongroom',
      JOBS_URL: 'redis://canary',
      ROOT_KEY: 'canary=',
      BOOTSTRAP_TOKEN: 'srt_canary',
      SMTP_URL: 'http://canary',
      TRUSTED_PROXIES: '10.0.0.0/8, canary',
      ALLOW_PRIVATE_TARGETS: 'canary',
      INTROSPECTION: 'canary',
      RATE_LIMIT: 'canary',
      LOG_LEVEL: 'canary',
      NODE_ENV: 'canary',
    };
    const misspelt = [
      'DATABSE_URL',
      'DATABASEURL',
      'DATABASE-URL',
      'database_url',
      'DATADIR',
      'ROOTKEY',
      'ROOT_KYE',
      'BOOTSTRAP_TOKENS',
      'TRUSTED_PROXYES',
      'LOGLEVEL',
      'RATELIMIT',
      'INTROSPECTON',
    ];
    const env = { ...wrong, ...Object.fromEntries(misspelt.map((name) => [name, 'canary'])) };
    const service = await Service.spawn({ env });
    let standardOutput = '';
    service.child.stdout?.on('data', (chunk) => {
      standardOutput += String(chunk);
    });
    expect(await service.exit()).toBe(78);
    const lines = service.output.trimEnd().split('\n');
    expect(lines).toHaveLength(25);
    expect(lines.filter((line) => !line.startsWith('strongroom: '))).toEqual([]);
    for (const name of Object.keys(env)) expect(lines.filter((line) => line.includes(` ${name} `))).toHaveLength(1);
    expect(service.output).not.toContain('canary');
    expect(standardOutput).toBe('');
    expect(await readdir(service.dataDir)).toEqual([]);
    await service.dispose();
  });
});

describe('a Node that is too old', () => {
  const NEEDED = /^strongroom: this is Node\.js 20\.\d+\.\d+, and Node\.js 24 or newer is needed; [^\n]*\n$/;
  const BUILD = resolve(import.meta.dirname, '../../../.build/src');
  const PRETENDS =
    "--import=data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.9.0'}})";

  test('is named, with the one that is needed, by the service and by a program', async () => {
    expect(await refusedStart({ NODE_OPTIONS: PRETENDS })).toEqual({ code: 78, output: expect.stringMatching(NEEDED) });
    const ended = await runProgram('backup', { NODE_OPTIONS: PRETENDS }, 'FILE');
    expect([ended.code, ended.stderr]).toEqual([78, expect.stringMatching(NEEDED)]);
  });

  test('can read the first file of each: it imports no name of a module, and the program dynamically', async () => {
    const files = (await readdir(BUILD, { recursive: true })).filter((file) => file.endsWith('.js'));
    expect(files).toContain('main.js');
    for (const file of files) {
      const imports = (await readFile(join(BUILD, file), 'utf8')).match(/^import\b.*$/gm);
      expect({ file, imports }).toEqual({ file, imports: ["import * as nodeModule from 'node:module';"] });
    }
  });
});

describe('a root key that is not the one of the database', () => {
  const rootKey = randomBytes(32);
  const oneBitOff = Buffer.from(rootKey);
  oneBitOff[17] = (oneBitOff[17] as number) ^ 0b100;
  let databaseUrl: string;
  let keyDir: string;

  beforeAll(async () => {
    databaseUrl = await migratedDatabase();
    keyDir = await mkdtemp(join(tmpdir(), 'strongroom-keys-'));
    const service = await Service.start({ env: { DATABASE_URL: databaseUrl, ROOT_KEY: rootKey.toString('base64') } });
    expect(await service.stop()).toBe(0);
  });

  afterAll(() => rm(keyDir, { recursive: true, force: true }));

  test.each([
    ['with one bit off', () => oneBitOff.toString('base64'), /ROOT_KEY is not the key that encrypted this database/],
    [
      'of another installation',
      () => randomBytes(32).toString('base64'),
      /is not the key that encrypted this database/,
    ],
    ['that is too short', () => rootKey.subarray(0, 31).toString('base64'), /ROOT_KEY must be 32 bytes in base64/],
    ['in a file that is not there', () => `file:${keyDir}/none`, /ROOT_KEY names a file that does not exist/],
    ['that is not configured at all', () => '', /ROOT_KEY is not set and DATA_DIR has no root-key/],
  ])('%s is refused in one line, and every table stays as it was', async (_case, key, line) => {
    const before = await tableContents(databaseUrl);
    const { code, output } = await refusedStart({ DATABASE_URL: databaseUrl, ROOT_KEY: key() });
    expect([code, output]).toEqual([78, expect.stringMatching(ONE_LINE)]);
    expect(output).toMatch(line);
    expect(await tableContents(databaseUrl)).toEqual(before);
    expect(Object.keys(before).length).toBeGreaterThan(10);
  });

  test('in a file that others may read is refused, and the same file closed is taken', async () => {
    const path = join(keyDir, 'key');
    await writeFile(path, `${rootKey.toString('base64')}\n`);
    await chmod(path, 0o644);
    const before = await tableContents(databaseUrl);
    const { code, output } = await refusedStart({ DATABASE_URL: databaseUrl, ROOT_KEY: `file:${path}` });
    expect([code, output]).toEqual([
      78,
      expect.stringMatching(/is readable or writable by other users; run chmod 600 on it/),
    ]);
    expect(output).toMatch(ONE_LINE);
    expect(await tableContents(databaseUrl)).toEqual(before);

    await chmod(path, 0o600);
    const service = await Service.start({ env: { DATABASE_URL: databaseUrl, ROOT_KEY: `file:${path}` } });
    expect(await service.stop()).toBe(0);
  });

  test('because the file in DATA_DIR is gone is refused, no new one is made, and the old one put back is taken', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-lost-key-'));
    const path = join(dataDir, 'root-key');
    expect(await (await Service.start({ dataDir })).stop()).toBe(0);
    const key = await readFile(path);
    await rm(path);
    expect(await refusedStart({}, dataDir)).toEqual({
      code: 78,
      output: expect.stringMatching(/DATA_DIR has no root-key/),
    });
    expect(await readdir(dataDir)).not.toContain('root-key');
    expect(await embeddedPostgres(dataDir)).toEqual([]);
    await writeFile(path, key, { mode: 0o600 });
    expect(await (await Service.start({ dataDir })).stop()).toBe(0);
    await rm(dataDir, { recursive: true, force: true });
  });
});

describe('a place that cannot be used', () => {
  let taken: Server;
  let port: number;

  beforeAll(async () => {
    taken = createServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    port = (taken.address() as { port: number }).port;
  });

  afterAll(() => void taken.close());

  test('because PORT is in use is refused in one line, before an embedded database is made', async () => {
    const service = await Service.spawn({ env: { PORT: String(port) } });
    expect(await service.exit()).toBe(78);
    expect(service.output).toBe(`strongroom: PORT ${port} is already in use on this machine; choose another port\n`);
    expect(await readdir(service.dataDir)).toEqual([]);
    await service.dispose();
  });

  test('because its database cannot be made leaves no half-made one behind', async () => {
    const node = resolve('node_modules/.bin/node');
    // A limit on the size of files, which initdb exceeds.
    const command = ['/bin/sh', '-c', `ulimit -f 1000; exec '${node}' .build/src/main.js`] as const;
    const service = await Service.spawn({ command });
    expect([await service.exit(), service.output]).toEqual([78, expect.stringMatching(ONE_LINE)]);
    expect(service.output).toMatch(/The embedded database cannot be created/);
    expect((await readdir(service.dataDir)).filter((name) => name.startsWith('postgres-new'))).toEqual([]);
    await service.dispose();
  });

  test.each([
    ['of the name of one of ours', 'create table project (id integer)'],
    ['of the name of the first one that is read', 'create table installation (id integer)'],
    ['that looks like the list of migrations', 'create table schema_migration (id integer)'],
  ])('because the database holds a table of another program %s is refused in one line', async (_case, table) => {
    const databaseUrl = await freshDatabase();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(table);
    const { code, output } = await refusedStart({ DATABASE_URL: databaseUrl });
    expect([code, output]).toEqual([78, expect.stringMatching(ONE_LINE)]);
    expect(output).toMatch(/names a database with tables of another program/);
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'public'`);
    expect(rows).toHaveLength(1);
    await client.end();
  });

  test.each([
    ['is a file', 'file', 'it is a file'],
    ['is below a file', 'file/data', 'part of its path is a file'],
    // A file system in which nobody makes a directory.
    ['is in /proc', '/proc/strongroom/data', 'no directory can be created there'],
  ])('because DATA_DIR %s is told in one line, whichever database there is', async (_case, name, reason) => {
    const home = await mkdtemp(join(tmpdir(), 'strongroom-place-'));
    await writeFile(join(home, 'file'), '');
    for (const env of [{} as Record<string, string>, { DATABASE_URL: 'postgres://127.0.0.1:1/none' }])
      expect(await refusedStart(env, resolve(home, name))).toEqual({
        code: 78,
        output: `strongroom: DATA_DIR cannot be used: ${reason}\n`,
      });
    await rm(home, { recursive: true });
  });

  test.each([
    [
      'a wrong password',
      async () => (await freshDatabase()).replace(/:[^:@]+@/, ':canary@'),
      /user or password that the server rejects/,
    ],
    ['a database that is not there', async () => `${await freshDatabase()}_canary`, /a database that does not exist/],
  ])('because DATABASE_URL names %s is told in one line without a part of it', async (_case, url, line) => {
    const { code, output } = await refusedStart({ DATABASE_URL: await url() });
    expect([code, output]).toEqual([78, expect.stringMatching(ONE_LINE)]);
    expect(output).toMatch(line);
    expect(output).not.toContain('canary');
  });

  test.each([
    ['a server that is not there', async () => 'postgres://canary:canary@127.0.0.1:1/canary', /refuses connections/],
    [
      'a host that is not there',
      async () => 'postgres://canary:canary@canary.invalid/canary',
      /host that cannot be resolved/,
    ],
    [
      'a server that is no Postgres',
      async () => `postgres://canary:canary@127.0.0.1:${port}/canary`,
      /does not respond/,
    ],
  ])('because DATABASE_URL names %s is told in one line, as what may pass', async (_case, url, line) => {
    const { code, output } = await refusedStart({ DATABASE_URL: await url(), DATABASE_WAIT_SECONDS: '0' });
    expect([code, output]).toEqual([75, expect.stringMatching(ONE_LINE)]);
    expect(output).toMatch(line);
    expect(output).not.toContain('canary');
  });
});
