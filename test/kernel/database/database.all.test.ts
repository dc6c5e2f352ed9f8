import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { Database } from '../../../src/kernel/database/database.js';
import { POOL_LIMITS } from '../../../src/kernel/database/time-limits.js';
import { toAppError } from '../../../src/kernel/errors.js';
import { mountHealth } from '../../../src/kernel/http/health.js';
import { createLog } from '../../../src/kernel/log.js';
import { ERRORS } from '../../kit/error-codes.js';
import { freshDatabase } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

/** Few, since other tests share the server. */
const PLACES = 3;
/** Less than what a test lets take too long, and more than a short statement takes on a busy machine. */
const QUERY_MS = 1_000;
const forever = (): Promise<never> => new Promise(() => undefined);

/** Where a database listens: at a host and a port, or in the directory of a socket. */
function socketOf({ hostname, port }: URL): { path: string } | { host: string; port: number } {
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port || 5432}` } : { host, port: Number(port || 5432) };
}

/** A database, watched with limits of its own. */
async function withDatabase(
  limits: Partial<Record<keyof typeof POOL_LIMITS, number>>,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await Database.connect(await freshDatabase(), {}, createLog('silent'), {
    ...POOL_LIMITS,
    connections: PLACES,
    ...limits,
  });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

interface Door {
  readonly url: string;
  readonly passed: () => number;
  readonly mostWaiting: () => number;
  stop(): Promise<void>;
}

/** Whoever comes through it is made to wait a moment. */
async function slowDoor(target: string): Promise<Door> {
  const url = new URL(target);
  const inside = socketOf(url);
  let waiting = 0;
  let most = 0;
  let passed = 0;
  const sockets = new Set<Socket>();
  const server = createServer(async (near) => {
    sockets.add(near.on('error', () => undefined));
    waiting += 1;
    passed += 1;
    most = Math.max(most, waiting);
    await delay(100);
    waiting -= 1;
    const far = connect(inside).on('error', () => undefined);
    sockets.add(far);
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { url: url.href, passed: () => passed, mostWaiting: () => most, stop };
}

describe('a parameter that cannot be written', () => {
  test('fails its statement, and leaves the connection as it was', () =>
    withDatabase({ queryMs: QUERY_MS }, async (database) => {
      const [before] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
      await expect(database.query('select $1::text', [{ number: 1n }])).rejects.toThrow('BigInt');
      await delay(1.5 * QUERY_MS);
      expect(await database.query('select pg_backend_pid() as pid')).toEqual([before]);
      expect(database.connections).toMatchObject({ open: 1, held: 0, waiting: 0 });
    }));
});

describe('plans that tables have outgrown', () => {
  test('are kept until they are renewed, and then made anew on the same connection, whoever gets it', () =>
    withDatabase({ connections: 1 }, async (database) => {
      const ADD = `insert into line (text) select repeat('x', 100) from generate_series(1, $1::integer)`;
      await database.query('create table line (text text) with (autovacuum_enabled = false)');
      await database.query('set plan_cache_mode = force_generic_plan');
      const [before] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
      await database.query('select text from line where text <> $1', ['']);
      const find = `select 'explain (format json) execute ' || name || $2 as text from pg_prepared_statements where statement ~ $1`;
      const [explain] = await database.query<{ text: string }>(find, ['^select text from line', `('')`]);
      const expectedRows = async (): Promise<number> => {
        const [row] = await database.query<Record<string, [{ Plan: { 'Plan Rows': number } }]>>(
          explain?.text as string,
        );
        return row?.['QUERY PLAN']?.[0].Plan['Plan Rows'] ?? 0;
      };
      const few = await expectedRows();
      await database.query(ADD, [10_000]);
      expect(await expectedRows()).toBe(few);

      database.renewPlans();
      expect(await expectedRows()).toBeGreaterThan(2 * few);
      expect(await database.query('select pg_backend_pid() as pid')).toEqual([before]);
      await database.withConnection(async (query) => {
        database.renewPlans();
        await query('select 1');
      });
      expect(database.connections).toMatchObject({ open: 1, held: 0, waiting: 0 });
    }));
});

describe('a pool whose connections are not given back', () => {
  test('takes those away that are not used, and counts them', () =>
    withDatabase({ heldIdleMs: 300 }, async (database) => {
      for (let place = 0; place < PLACES; place += 1) database.withConnection(forever).catch(() => undefined);
      expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
      await until('the last of them', 20_000, () => database.connections.held === 0);
      expect(database.connections).toMatchObject({ held: 0, waiting: 0, leaks: PLACES });
    }));

  test('says that it is starved when the database has a connection for others, and fails /livez, until one comes back', () =>
    withDatabase({ starvedMs: 300 }, async (database) => {
      const app = Fastify();
      mountHealth(app, {
        database,
        databaseRole: 'service',
        jobs: { store: { backend: 'postgres', connected: true } },
        lifecycle: { isDraining: false },
      });
      let isOver = false;
      const holders = Array.from({ length: PLACES }, () =>
        database.withConnection(async (query) => {
          while (!isOver) await query('select pg_sleep(0.02)');
        }),
      );
      await until('all of them', 20_000, () => database.connections.held === PLACES);
      expect((await app.inject('/livez')).statusCode).toBe(200);
      const waiting = database.query('select 1 as one');
      await until('starvation', 20_000, async () => (await app.inject('/livez')).statusCode === 503);
      isOver = true;
      await Promise.all(holders);
      expect(await waiting).toEqual([{ one: 1 }]);
      await until('the end of it', 20_000, async () => (await app.inject('/livez')).statusCode === 200);
    }));

  test('is not starved while connections change hands, however many wait for one', () =>
    withDatabase({ starvedMs: 300 }, async (database) => {
      // All of them within the five seconds that a caller waits for a connection, on a busy machine too.
      const waits = Array.from({ length: PLACES * 6 }, () => database.query('select pg_sleep(0.1)'));
      const seen: boolean[] = [];
      const watching = setInterval(() => seen.push(database.isStarved), 20);
      await Promise.all(waits);
      clearInterval(watching);
      expect(seen.length).toBeGreaterThan(0);
      expect(seen).not.toContain(true);
    }));

  test('is not starved when one comes back while it is asked whether the database has one for others', async () => {
    const door = await slowDoor(await freshDatabase());
    const limits = { ...POOL_LIMITS, connections: PLACES, starvedMs: 300 };
    const database = await Database.connect(door.url, {}, createLog('silent'), limits);
    const seen: boolean[] = [];
    const watching = setInterval(() => seen.push(database.isStarved), 5);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const holders = Array.from({ length: PLACES }, () => database.withConnection(() => released));
    try {
      await until('all of them', 20_000, () => database.connections.held === PLACES);
      const before = door.passed();
      const waiting = database.query('select 1 as one');
      await until('the question', 20_000, () => door.passed() > before);
      release();
      expect(await waiting).toEqual([{ one: 1 }]);
      // Longer than the question takes.
      await delay(500);
      expect(seen).not.toContain(true);
    } finally {
      release();
      clearInterval(watching);
      await Promise.all(holders);
      await database.close();
      await door.stop();
    }
  });
});

describe('a pool of which many ask at once', () => {
  test('opens two connections at a time, and as many as are needed though nobody new asks', async () => {
    const door = await slowDoor(await freshDatabase());
    const limits = { ...POOL_LIMITS, connections: 6 };
    const database = await Database.connect(door.url, {}, createLog('silent'), limits);
    let isOver = false;
    const holders = Array.from({ length: 10 }, () =>
      database.withConnection(async (query) => {
        while (!isOver) await query('select pg_sleep(0.02)');
      }),
    );
    try {
      await until('all places to be taken', 20_000, () => database.connections.held === 6);
      expect(database.connections).toMatchObject({ open: 6, waiting: 4 });
      isOver = true;
      await Promise.all(holders);
      expect(database.connections).toMatchObject({ open: 6, idle: 6, held: 0, waiting: 0, leaks: 0 });
      expect(door.mostWaiting()).toBe(2);
    } finally {
      isOver = true;
      await Promise.all(holders);
      await database.close();
      await door.stop();
    }
  });
});

describe('a statement past its deadline', () => {
  test('fails with DEADLINE_EXCEEDED, and its connection is closed', () =>
    withDatabase({ queryMs: QUERY_MS }, async (database) => {
      const [{ pid } = { pid: 0 }] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
      const error = await database.query('select pg_sleep(3)').catch((thrown: unknown) => thrown);
      expect(toAppError(error).code).toBe('DEADLINE_EXCEEDED');
      const [{ pid: next } = { pid: 0 }] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
      expect(next).not.toBe(pid);
    }));

  test('may take as long as it likes where it is said so', () =>
    withDatabase({ queryMs: QUERY_MS }, async (database) => {
      expect(await database.withoutLimits(() => database.query('select pg_sleep(1.6) is null as done'))).toHaveLength(
        1,
      );
    }));
});

describe('a connection that has time', () => {
  test('may take as long as it needs, while others keep their deadline', () =>
    withDatabase({ queryMs: QUERY_MS }, async (database) => {
      const { signal } = new AbortController();
      const slow = database.withConnection((query) => query('select pg_sleep(1.6) is null as done'), signal);
      const error = await database.query('select pg_sleep(3)').catch((thrown: unknown) => thrown);
      expect(toAppError(error).code).toBe('DEADLINE_EXCEEDED');
      expect(await slow).toHaveLength(1);
      // The next holder has not.
      const held = database.withConnection((query) => query('select pg_sleep(3)'));
      await expect(held).rejects.toThrow('did not respond in time');
    }));

  test('is closed in the middle of a statement when its signal says so', () =>
    withDatabase({}, async (database) => {
      const controller = new AbortController();
      const work = database.withConnection((query) => query('select pg_sleep(60)'), controller.signal);
      await until('it to be asked', 20_000, () => database.connections.held === 1);
      controller.abort();
      await expect(work).rejects.toThrow('the connection to the database was lost');
      expect(database.connections).toMatchObject({ held: 0, leaks: 0 });
    }));
});

describe('a prepared statement whose table was changed by a migration', () => {
  test('fails once as a connection that is lost, and then works', () =>
    withDatabase({}, async (database) => {
      const read = () => database.query('select * from changing');
      await database.query('create table changing (one int)');
      await read();
      await database.query('alter table changing add two int');
      const error = await read().catch((thrown: unknown) => thrown);
      expect(toAppError(error).code).toBe('STORE_UNAVAILABLE');
      expect(await read()).toEqual([]);
    }));
});

describe('upkeep that fails', () => {
  test('leaves no setting, no lock and no transaction behind', () =>
    withDatabase({}, async (database) => {
      const failed = database.withConnection(async (query) => {
        await query('set lock_timeout = 0');
        await query('select pg_advisory_lock(42)');
        await query('begin');
        throw new Error('in the middle');
      });
      await expect(failed).rejects.toThrow('in the middle');
      await until('the lock', 20_000, async () => {
        const [row] = await database.query<{ held: boolean }>('select pg_try_advisory_lock(42) as held');
        return row?.held;
      });
      const [row] = await database.query<{ text: string }>(`select current_setting('lock_timeout') as text`);
      expect(row?.text).toBe('2s');
    }));

  test('gives no connection back that is still in a transaction', () =>
    withDatabase({}, async (database) => {
      await database.withConnection((query) => query('begin'));
      const rows = await database.query<{ state: string }>(
        `select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in%'`,
      );
      expect(rows).toEqual([]);
      await until('the connection to be back', 20_000, () => database.connections.held === 0);
      expect(database.connections.leaks).toBe(0);
    }));
});

describe('every failure of the database has a meaning', () => {
  /** With the driver's field, and under the wrapping of the ORM. */
  const failure = (code: string): Error => new Error('wrapped', { cause: Object.assign(new Error('inner'), { code }) });

  test.each([
    ['08006', 'STORE_UNAVAILABLE'],
    ['25006', 'STORE_UNAVAILABLE'],
    ['28P01', 'STORE_UNAVAILABLE'],
    ['3D000', 'STORE_UNAVAILABLE'],
    ['53100', 'STORE_UNAVAILABLE'],
    ['53300', 'STORE_UNAVAILABLE'],
    ['55000', 'STORE_UNAVAILABLE'],
    ['57P01', 'STORE_UNAVAILABLE'],
    ['57P02', 'STORE_UNAVAILABLE'],
    ['57P03', 'STORE_UNAVAILABLE'],
    ['57P05', 'STORE_UNAVAILABLE'],
    ['58030', 'STORE_UNAVAILABLE'],
    ['XX001', 'STORE_UNAVAILABLE'],
    ['ECONNRESET', 'STORE_UNAVAILABLE'],
    ['EPIPE', 'STORE_UNAVAILABLE'],
    ['EAGAIN', 'STORE_UNAVAILABLE'],
    ['57014', 'DEADLINE_EXCEEDED'],
    ['55P03', 'DEADLINE_EXCEEDED'],
    ['25P03', 'DEADLINE_EXCEEDED'],
    ['40001', 'CONCURRENT_CHANGE'],
    ['40P01', 'CONCURRENT_CHANGE'],
    ['23505', 'INTERNAL'],
    ['42601', 'INTERNAL'],
    ['22P02', 'INTERNAL'],
  ])('%s is %s', (code, meaning) => {
    expect(toAppError(failure(code)).code).toBe(meaning);
  });

  test('and each that passes says when to try again', () => {
    const matchingCertificates = Object.entries(ERRORS).filter(([, { status }]) => status === 503 || status === 504);
    expect(matchingCertificates.length).toBeGreaterThan(4);
    for (const [, row] of matchingCertificates) expect(row).toHaveProperty('retryAfterSeconds', expect.any(Number));
  });
});
