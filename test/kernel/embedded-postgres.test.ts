import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { usableBinaries } from '../../src/kernel/postgres/binaries.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/kernel/postgres/embedded-postgres.js';
import { testInAll } from '../kit/scope.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const SOURCES = resolve('test/kit/sources.mjs');
const EMBEDDED_POSTGRES = resolve('src/kernel/postgres/embedded-postgres.ts');

const silent = () => undefined;
const start = (dataDir: string) => startEmbeddedPostgres({ dataDir, log: silent });

async function query<Row extends pg.QueryResultRow>(
  { url }: Pick<EmbeddedPostgres, 'url'>,
  text: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** The master processes of servers that work in this cluster. */
async function masters(dataDir: string): Promise<number[]> {
  const found: number[] = [];
  const parents = new Set<number>();
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (place !== join(dataDir, 'postgres')) continue;
    found.push(Number(pid));
    const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    parents.add(Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]));
  }
  return found.filter((pid) => parents.has(pid) || found.length === 1);
}

async function until<T>(name: string, deadlineMs: number, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms for ${name}`);
    await delay(30);
  }
}

/** A service of its own process, that starts the database, prints its address and then waits. */
function spawnService(dataDir: string, uid?: number) {
  const script = `
    import(${JSON.stringify(EMBEDDED_POSTGRES)})
      .then(({ startEmbeddedPostgres }) => startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log: () => {} }))
      .then((db) => { console.log(db.url); process.on('SIGTERM', () => db.stop().then(() => process.exit(0))); })
      .catch((error) => { console.log(error.name + ': ' + (error.violations ?? [error.stack]).join(' | ')); process.exit(78); });
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, [`--import=${SOURCES}`, '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
}

async function startElsewhere(dataDir: string, uid?: number): Promise<{ child: ChildProcess; said: string }> {
  const child = spawnService(dataDir, uid);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: chunk.toString().trim() };
}

describe('the embedded database', () => {
  let home: string;
  let dataDir: string;
  /** A cluster with one row in it, which is copied: to make one takes much longer. */
  let used: string;
  const running: EmbeddedPostgres[] = [];
  const children: ChildProcess[] = [];

  const run = async (directory = dataDir) => {
    const db = await start(directory);
    running.push(db);
    return db;
  };
  const runElsewhere = async (directory = dataDir, uid?: number) => {
    const service = await startElsewhere(directory, uid);
    children.push(service.child);
    return service;
  };
  const makeUsed = async (directory: string) => {
    const db = await start(directory);
    await query(db, 'create table kept (word text)');
    await query(db, `insert into kept values ('still here')`);
    await db.stop();
  };
  /** A cluster with one row in it, and nobody running it. */
  const usedCluster = () => promisify(execFile)('cp', ['-a', join(used, 'data'), dataDir]);
  const expectKept = async (db: EmbeddedPostgres) => {
    expect(await query(db, 'select word from kept')).toEqual([{ word: 'still here' }]);
    expect(await masters(dataDir)).toHaveLength(1);
  };

  beforeAll(async () => {
    used = await mkdtemp(join(tmpdir(), 'embedded-used-'));
    await makeUsed(join(used, 'data'));
  });
  afterAll(() => rm(used, { recursive: true, force: true }));

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'embedded-'));
    dataDir = join(home, 'data');
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((db) => db.stop()));
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(home, { recursive: true, force: true });
  });

  test('keeps rows over a restart, in UTF-8 with page checksums, without a TCP listener, closed to others', async () => {
    await makeUsed(dataDir);
    const db = await run();
    await expectKept(db);
    const [settings] = await query(
      db,
      `select current_setting('data_checksums') checksums, current_setting('server_encoding') encoding,
        current_setting('listen_addresses') addresses, current_setting('synchronous_commit') durable,
        (select datlocale from pg_database where datname = current_database()) locale`,
    );
    expect(settings).toEqual({ checksums: 'on', encoding: 'UTF8', addresses: '', durable: 'on', locale: 'C.UTF-8' });
    for (const name of ['.', 'postgres']) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o700);
    for (const name of ['postgres-password', 'postgres.log']) {
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
    }
    expect((await readdir(dataDir)).filter((name) => name.includes('new'))).toEqual([]);
  });

  test('asks for its password, and hands none of our environment to the server', async () => {
    await usedCluster();
    const db = await run();
    const wrong = db.url.replace(/:[^:@]+@/, ':wrong@');
    await expect(query({ url: wrong }, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    const [master] = await masters(dataDir);
    const names = (await readFile(`/proc/${master}/environ`, 'utf8')).split('\0').map((entry) => entry.split('=')[0]);
    const ADDED_BY_POSTGRES = ['PG_GRANDPARENT_PID', 'PGDATA', 'PGLOCALEDIR', 'PGSYSCONFDIR', 'LC_COLLATE', 'LC_CTYPE'];
    expect(names.filter((name) => name && !ADDED_BY_POSTGRES.includes(name)).sort()).toEqual(['LC_ALL', 'PATH', 'TZ']);
  });

  testInAll('comes back by itself, with every row, after its server was killed', async () => {
    await usedCluster();
    const db = await run();
    const [master] = await masters(dataDir);
    process.kill(master as number, 'SIGKILL');
    await until('the old server to end', 20_000, async () =>
      (await masters(dataDir)).includes(master as number) ? undefined : true,
    );
    await until('an answer', 60_000, () => query(db, 'select 1'));
    await expectKept(db);
  });

  testInAll.each([60, 250, 500, 800])('starts after the first start was killed %i ms on its way', async (waitMs) => {
    const begun = spawnService(dataDir);
    await until('the directory to be made', 20_000, () => stat(join(dataDir, 'postgres-password')));
    await delay(waitMs);
    begun.kill('SIGKILL');
    await once(begun, 'exit');
    const db = await run();
    expect(await query(db, 'select current_database() as name')).toEqual([{ name: 'strongroom' }]);
    expect(await masters(dataDir)).toHaveLength(1);
  });

  testInAll.each([
    ['are empty', () => ''],
    ['name a dead process', () => '999999\n/nowhere\n0\n5432\n\n\n\n'],
    [
      'name a living process of the same account that is no server',
      (sleeper: ChildProcess) => `${sleeper.pid}\n/nowhere\n0\n5432\n\n\n\n`,
    ],
  ])('starts when the pid files of the server and of its socket %s', async (_case, content) => {
    await usedCluster();
    const cluster = join(dataDir, 'postgres');
    const { uid, gid } = await stat(cluster);
    const sleeper = spawn('sleep', ['600'], { stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) });
    try {
      for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
        await writeFile(join(cluster, name), content(sleeper), { mode: 0o600 });
        await chown(join(cluster, name), uid, gid);
      }
      await expectKept(await run());
      expect(sleeper.exitCode).toBeNull();
      expect(sleeper.signalCode).toBeNull();
    } finally {
      sleeper.kill('SIGKILL');
    }
  });

  testInAll.each([
    ['with its pid file', false],
    ['with an emptied pid file', true],
  ])('stops a server whose service was killed, %s, before it starts its own', async (_case, isEmptied) => {
    await usedCluster();
    const { child } = await runElsewhere();
    const [orphan] = await masters(dataDir);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await masters(dataDir)).toEqual([orphan]);
    if (isEmptied) await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), '');
    await expectKept(await run());
    expect(await masters(dataDir)).not.toEqual([orphan]);
  });

  test('is refused to a second service with one line, while the first goes on', async () => {
    await usedCluster();
    const db = await run();
    await expect(start(dataDir)).rejects.toMatchObject({
      name: 'ConfigurationError',
      violations: ['DATA_DIR is used by another running service; stop that service, or use a different directory'],
    });
    const { said } = await runElsewhere();
    expect(said).toMatch(/^ConfigurationError: DATA_DIR is used by another running service/);
    expect(await query(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  testInAll('runs beside another one in another directory', async () => {
    await usedCluster();
    const [first, second] = await Promise.all([run(), run(join(home, 'second'))]);
    await query(first, 'create table only_here ()');
    await expect(query(second, 'select from only_here')).rejects.toMatchObject({ code: '42P01' });
  });

  testInAll('runs in a directory whose path is longer than a socket address', async () => {
    dataDir = join(home, 'long'.repeat(30), 'data');
    await makeUsed(dataDir);
    await expectKept(await run());
  });

  testInAll(
    'closes an empty or own directory that others may enter, and refuses one that holds other files',
    async () => {
      await mkdir(dataDir, { mode: 0o755 });
      await (await start(dataDir)).stop();
      expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
      await chmod(dataDir, 0o755);
      await (await start(dataDir)).stop();
      expect((await stat(dataDir)).mode & 0o777).toBe(0o700);

      const foreign = join(home, 'foreign');
      await mkdir(foreign, { mode: 0o755 });
      await writeFile(join(foreign, 'letter.txt'), 'of somebody else');
      await expect(start(foreign)).rejects.toMatchObject({
        violations: [expect.stringMatching(/^DATA_DIR is accessible to other users and has files of another program/)],
      });
      expect((await stat(foreign)).mode & 0o777).toBe(0o755);
    },
  );

  test('is refused with the cause when its directory cannot be made', async () => {
    await writeFile(join(home, 'file'), '');
    await expect(start(join(home, 'file', 'data'))).rejects.toMatchObject({
      name: 'ConfigurationError',
      violations: ['DATA_DIR cannot be used: part of its path is a file'],
    });
  });

  test('is made over none that cannot be looked at', async () => {
    const { serverAccount } = await import('../../src/kernel/postgres/account.js');
    const cluster = join(await mkdtemp(join(tmpdir(), 'strongroom-loop-')), 'postgres');
    await symlink(cluster, cluster);
    await expect(serverAccount(cluster)).rejects.toMatchObject({ code: 'ELOOP' });
  });

  test('is refused when its password file is lost, and the cluster stays', async () => {
    await usedCluster();
    await rm(join(dataDir, 'postgres-password'));
    await expect(start(dataDir)).rejects.toMatchObject({ violations: [expect.stringContaining('postgres-password')] });
    expect(await readdir(join(dataDir, 'postgres'))).toContain('PG_VERSION');
  });

  // A plain user cannot be root: what these check does not exist there.
  const asRoot = isRoot ? describe : describe.skip;
  asRoot('started by root', () => {
    test('runs under another account, in a directory that only root may enter', async () => {
      await usedCluster();
      await chmod(home, 0o700);
      await run();
      const [master] = await masters(dataDir);
      const status = await readFile(`/proc/${master}/status`, 'utf8');
      expect(Number(status.match(/^Uid:\s+(\d+)/m)?.[1])).toBeGreaterThan(0);
      expect(status).toMatch(/^Groups:\s*$/m);
    });

    test('copies programs that the account cannot reach to a place where it can', async () => {
      const closed = join(home, 'closed');
      const place = join(home, 'place');
      await chmod(home, 0o711);
      await mkdir(closed, { mode: 0o700 });
      await mkdir(join(closed, 'native', 'bin'), { recursive: true });
      await cp('/bin/true', join(closed, 'native', 'bin', 'postgres'));
      const tree = { root: join(closed, 'native'), version: '1', places: [place] };
      const found = await usableBinaries(tree, { uid: NOBODY, gid: NOBODY }, silent);
      expect(found.postgres).toBe(join(place, 'strongroom-postgres-1-0', 'bin', 'postgres'));
      await chmod(join(place, 'strongroom-postgres-1-0'), 0o777);
      await expect(usableBinaries(tree, { uid: NOBODY, gid: NOBODY }, silent)).rejects.toMatchObject({
        name: 'ConfigurationError',
      });
    });

    testInAll(
      'a plain user starts, stops and starts again, and is refused a directory that it may not write',
      async () => {
        await chown(home, NOBODY, NOBODY);
        const first = await runElsewhere(dataDir, NOBODY);
        expect(first.said).toMatch(/^postgres:/);
        first.child.kill('SIGTERM');
        await once(first.child, 'exit');
        expect((await runElsewhere(dataDir, NOBODY)).said).toBe(first.said);
        await mkdir(join(home, 'closed'), { mode: 0o555 });
        expect((await runElsewhere(join(home, 'closed', 'data'), NOBODY)).said).toBe(
          'ConfigurationError: DATA_DIR cannot be used: permission denied',
        );
      },
    );
  });
});
