import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import pg from 'pg';
import type { Context, Transaction } from '../../../src/kernel/context.js';
import { NO_POOLER } from '../../../src/kernel/database/bounded-client.js';
import { Database, pipelined, query, quickQuery } from '../../../src/kernel/database/database.js';
import { atOnce, inTransaction, WholeTransaction } from '../../../src/kernel/database/in-transaction.js';
import { PoolGuard } from '../../../src/kernel/database/pool-guard.js';
import { localSettings } from '../../../src/kernel/database/scope.js';
import { POOL_LIMITS } from '../../../src/kernel/database/time-limits.js';
import { createLog } from '../../../src/kernel/log.js';
import { freshDatabase } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';

const ADD = 'insert into line (text) values ($1)';
const SCOPE = `select current_setting('strongroom.organization', true) as scope`;

let url: string;
let database: Database;
const [organizationId, otherId] = [randomUUID(), randomUUID()];

beforeAll(async () => {
  url = await freshDatabase();
  database = await Database.connect(url, {}, createLog('silent'), { ...POOL_LIMITS, connections: 1 });
  database.isBounded = true;
  await database.query('create table line (text text primary key)');
  for (const text of [ADD, SCOPE]) database.prepare(text);
});
afterAll(() => database.close());

const transact = <T>(work: (tx: Transaction) => Promise<T | WholeTransaction<T>>): Promise<T> =>
  inTransaction({ database, organizationId, actor: null } as unknown as Context, work);
/** A statement that nobody waits for. */
const record = (tx: Transaction, text: string, add = ADD): Promise<unknown> =>
  pipelined(tx, () => new Error('it could not be recorded'))(add, [text]);
const lines = async (): Promise<string[]> =>
  (await database.query<{ text: string }>('select text from line order by text')).map(({ text }) => text);

beforeEach(() => database.query('delete from line'));
// Only one connection: a transaction that is left open, or a name that is wrongly taken for prepared, fails what comes after it.
afterEach(async () => {
  await transact((tx) => query(tx, ADD, ['last']));
  expect(await lines()).toContain('last');
  expect(database.connections).toMatchObject({ open: 1, held: 0, waiting: 0 });
});

test('a transaction begins with its first statement, in its scope, which ends with it', async () => {
  expect(await transact((tx) => query(tx, SCOPE))).toEqual([{ scope: organizationId }]);
  expect(await database.query(SCOPE)).not.toEqual([{ scope: organizationId }]);
});

test('statements at once are all in the transaction, whichever is sent first', async () => {
  await expect(
    transact(async (tx) => {
      await Promise.all(['one', 'two', 'three'].map((text) => query(tx, ADD, [text])));
      throw new Error('not so');
    }),
  ).rejects.toThrow('not so');
  expect(await lines()).toEqual([]);
});

test('one of two at once that fails takes the other with it', async () => {
  await expect(
    transact((tx) => Promise.all([query(tx, 'select 1 / $1::int', [0]), query(tx, ADD, ['other'])])),
  ).rejects.toThrow('division by zero');
  expect(await lines()).toEqual([]);
});

/** How often the server was asked to respond. */
async function roundTrips(work: () => Promise<unknown>): Promise<number> {
  const sync = jest.spyOn(pg.Connection.prototype as unknown as { sync: () => void }, 'sync');
  await work();
  const { length } = sync.mock.calls;
  sync.mockRestore();
  return length;
}

test('statements at once each get their own rows, in one round trip with the begin and what is recorded among them', async () => {
  const count = (tx: Transaction) => query(tx, 'select count(*)::int as count from line', []);
  const work = (tx: Transaction) =>
    Promise.all([
      count(tx),
      query(tx, `${ADD} returning text`, ['one']),
      record(tx, 'two'),
      query(tx, 'select $1::text as text, text as other from line order by text', ['three']),
      count(tx),
      record(tx, 'four'),
    ]);
  const trips = await roundTrips(async () => {
    const [before, inserted, , found, after] = await transact(work);
    expect([before, after]).toEqual([[{ count: 0 }], [{ count: 2 }]]);
    expect(inserted).toEqual([{ text: 'one' }]);
    expect(found).toEqual(['one', 'two'].map((other) => ({ text: 'three', other })));
  });
  // The last record goes with the commit.
  expect(trips).toBe(2);
  expect(await lines()).toEqual(['four', 'one', 'two']);
});

test('quick statements outside of transactions each reach their scope, in one round trip for each of these', async () => {
  const of = (scope: string) => quickQuery({ database, organizationId: scope });
  const ask = (scope: string, text: string) => of(scope)(`select $1::text as text, scope from (${SCOPE})`, [text]);
  const asked = ['one', 'two', 'three'].flatMap((text) => [
    { scope: organizationId, text },
    { scope: otherId, text },
  ]);
  const trips = await roundTrips(async () =>
    expect(await Promise.all(asked.map(({ scope, text }) => ask(scope, text)))).toEqual(
      asked.map(({ scope, text }) => [{ text, scope }]),
    ),
  );
  expect(trips).toBe(2);
});

test('of quick statements in one round trip only those fail that fail by themselves', async () => {
  const ask = (divisor: unknown) => quickQuery({ database, organizationId })('select 1 / $1::int as result', [divisor]);
  const divisors = [1, 0, -1, ...Array.from({ length: 40 }, () => 1), 0];
  const results = await Promise.allSettled(divisors.map(ask));
  expect(results).toMatchObject(
    divisors.map((divisor) => (divisor === 0 ? { reason: { code: '22012' } } : { value: [{ result: divisor }] })),
  );
});

test('quick statements whose connection is lost fail, and keep no place', async () => {
  const ask = quickQuery({ database, organizationId });
  const results = await Promise.allSettled([
    ask('select $1::int as number', [1]),
    ask('select pg_terminate_backend(pg_backend_pid()), $1::int', [1]),
    ask('select $1::int as number', [2]),
  ]);
  expect(results[2]).toMatchObject({ status: 'rejected', reason: { code: expect.anything() } });
});

test('what a transaction ends with goes with its commit, in one round trip with its begin', async () => {
  const ending = async (tx: Transaction) => {
    const inserted = query<{ text: string }>(tx, `${ADD} returning text`, ['one']);
    return new WholeTransaction(atOnce(inserted, record(tx, 'two')).then(([rows]) => rows));
  };
  const trips = await roundTrips(async () => expect(await transact(ending)).toEqual([{ text: 'one' }]));
  expect(trips).toBe(1);
  expect(await lines()).toEqual(['one', 'two']);
});

test('what a transaction ends with fails it, with its own error or with what that of its record means', async () => {
  const ending =
    (insert: string, recorded: string, isApart = false) =>
    async (tx: Transaction) => {
      const inserted = query(tx, ADD, [insert]);
      if (isApart) await inserted.catch(() => undefined);
      return new WholeTransaction(atOnce(inserted, record(tx, recorded)));
    };
  await transact((tx) => query(tx, ADD, ['there']));
  await expect(transact(ending('there', 'other'))).rejects.toMatchObject({ code: '23505' });
  await expect(transact(ending('there', 'other', true))).rejects.toMatchObject({ code: '23505' });
  await expect(transact(ending('other', 'there'))).rejects.toThrow('it could not be recorded');
  await expect(transact((tx) => inTransaction(tx, ending('there', 'other')))).rejects.toMatchObject({ code: '23505' });
  expect(await lines()).toEqual(['there']);
});

test('a whole transaction that waited for too long changes nothing, though nobody waits for it any more', async () => {
  const slow = async (tx: Transaction) =>
    new WholeTransaction(
      atOnce(query(tx, 'select pg_sleep($1)', [2.6]), query(tx, ADD, ['late']), record(tx, 'record')).then(
        () => 'done',
      ),
    );
  await expect(transact(slow)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  expect(await lines()).toEqual([]);
});

describe('where the connection is lost before statements are sent', () => {
  const dead = async (tx: Transaction): Promise<void> => {
    const [session] = await query<{ pid: number }>(tx, 'select pg_backend_pid() as pid');
    await withClient(url, (other) => other.query('select pg_terminate_backend($1)', [session?.pid]));
    await until('the end of the connection', 5_000, () => database.connections.open === 0);
  };

  test('what a transaction ends with fails, and what goes in front of its commit', async () => {
    const ending = async (tx: Transaction) => {
      await dead(tx);
      return new WholeTransaction(atOnce(query(tx, ADD, ['one']), record(tx, 'two'), query(tx, ADD, ['three'])));
    };
    await expect(transact(ending)).rejects.toMatchObject({ code: '08006' });
    expect(await lines()).toEqual([]);
  });

  test('each of several at once fails', async () => {
    let results: PromiseSettledResult<unknown>[] = [];
    const work = async (tx: Transaction) => {
      await dead(tx);
      results = await Promise.allSettled(['one', 'two', 'three'].map((text) => query(tx, ADD, [text])));
      throw new Error('not so');
    };
    await expect(transact(work)).rejects.toThrow('not so');
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});

test('more at once than fit in one round trip each get their own row', async () => {
  const numbers = Array.from({ length: 50 }, (_, index) => index);
  const found = await transact((tx) =>
    Promise.all(numbers.map((number) => query(tx, 'select $1::int as number', [number]))),
  );
  expect(found).toEqual(numbers.map((number) => [{ number }]));
});

test('of statements at once, those before one that fails have run, and those behind it have not', async () => {
  let results: PromiseSettledResult<unknown>[] = [];
  const work = async (tx: Transaction) => {
    results = await Promise.allSettled([
      query(tx, 'select 1 as number', []),
      query(tx, 'select 1 / $1::int', [0]),
      query(tx, ADD, ['unsent']),
      query(tx, SCOPE, []),
    ]);
    throw new Error('not so');
  };
  await expect(transact(work)).rejects.toThrow('not so');
  expect(results).toMatchObject([
    { value: [{ number: 1 }] },
    { reason: { code: '22012' } },
    { reason: { code: '25P02' } },
    { reason: { code: '25P02' } },
  ]);
  expect(await lines()).toEqual([]);
});

test('a record that fails fails the first statement behind it with what that means', async () => {
  const work = (tx: Transaction) =>
    Promise.all([query(tx, ADD, ['one']), record(tx, 'one'), query(tx, ADD, ['two']), query(tx, SCOPE, [])]);
  await expect(transact(work)).rejects.toThrow('it could not be recorded');
  expect(await lines()).toEqual([]);
});

test('what goes on where the connection was lost fails, too, and keeps no place', async () => {
  const work = (tx: Transaction) =>
    atOnce(
      query(tx, 'select 1 as number', []).then(() => query(tx, SCOPE, [])),
      query(tx, 'select pg_terminate_backend(pg_backend_pid())', []),
    );
  await expect(transact(work)).rejects.toThrow();
});

test('a statement that another one kept from being run does not hide why', async () => {
  const work = (tx: Transaction) =>
    atOnce(
      query(tx, 'select 1 as number', []).then(() => query(tx, SCOPE, [])),
      query(tx, 'select 1 / $1::int', [0]),
    );
  await expect(transact(work)).rejects.toMatchObject({ code: '22012' });
});

test('what is asked for before the connection is there is sent when it is', async () => {
  const { Unwatched } = new PoolGuard(createLog('silent'), POOL_LIMITS, NO_POOLER);
  const client = new Unwatched({ connectionString: url });
  const connected = client.connect();
  expect((await client.query('select $1::int as number', [1])).rows).toEqual([{ number: 1 }]);
  await connected;
  await client.end();
});

test('nothing comes behind a commit', async () => {
  let late: Promise<unknown> | undefined;
  await transact(async (tx) => {
    const inserted = query(tx, `${ADD} returning text`, ['one']);
    setImmediate(() => (late = query(tx, ADD, ['late']).catch((error: Error) => error)));
    return new WholeTransaction(atOnce(inserted, query(tx, 'select pg_sleep($1)', [0.2])));
  });
  expect(await late).toMatchObject({ message: 'the transaction is over' });
  expect(await lines()).toEqual(['one']);
});

test('a parameter that cannot be written fails all that would be sent with it', async () => {
  const work = (tx: Transaction) =>
    Promise.all([query(tx, ADD, ['one']), query(tx, 'select $1::text', [{ number: 1n }]), query(tx, SCOPE, [])]);
  await expect(transact(work)).rejects.toThrow('BigInt');
  expect(await lines()).toEqual([]);
});

test('a transaction without statements is none', async () => {
  expect(await transact(async () => 'nothing')).toBe('nothing');
  await expect(transact(() => Promise.reject(new Error('nothing')))).rejects.toThrow('nothing');
});

test('a record is stored with what it is about: by the next statement, or by the commit', async () => {
  await transact(async (tx) => {
    await query(tx, ADD, ['change']);
    await record(tx, 'record 1');
    expect(await query(tx, 'select count(*)::int as count from line')).toEqual([{ count: 2 }]);
    await record(tx, 'record 2');
    await record(tx, 'record 3');
  });
  await transact((tx) => record(tx, 'record 4'));
  expect(await lines()).toEqual(['change', 'record 1', 'record 2', 'record 3', 'record 4']);
});

test('two records whose statement the connection does not know yet are stored', async () => {
  const add = `${ADD} on conflict do nothing`;
  database.prepare(add);
  await transact(async (tx) => {
    await record(tx, 'one', add);
    await record(tx, 'two', add);
  });
  expect(await lines()).toEqual(['one', 'two']);
});

test('many records are stored, and one of many that fails says so', async () => {
  const texts = Array.from({ length: 40 }, (_, index) => String(index + 10));
  const recordAll = async (tx: Transaction) => {
    for (const text of texts) await record(tx, text);
  };
  await transact(recordAll);
  expect(await lines()).toEqual(texts);
  await expect(transact(recordAll)).rejects.toThrow('it could not be recorded');
  expect(await lines()).toEqual(texts);
});

test('a parameter that cannot be written fails its statement, and not the record in front of it', async () => {
  await expect(
    transact(async (tx) => {
      await record(tx, 'unsent');
      await query(tx, 'select $1::text', [{ number: 1n }]);
    }),
  ).rejects.toThrow('BigInt');
  expect(await lines()).toEqual([]);
});

test('settings of a session that others use too are a statement, also if there are none', async () => {
  const { text } = localSettings('').preambleOf('*');
  expect(await database.query(text, ['*'])).toEqual([{ set_config: '*' }]);
});

test('a record that fails at the commit, or at the next statement, fails the transaction with what that means', async () => {
  const failing = async (tx: Transaction) => {
    await query(tx, ADD, ['change']);
    await record(tx, 'change');
  };
  await expect(transact(failing)).rejects.toThrow('it could not be recorded');
  await expect(
    transact(async (tx) => {
      await failing(tx);
      await query(tx, SCOPE);
    }),
  ).rejects.toThrow('it could not be recorded');
  expect(await lines()).toEqual([]);
});

test('a statement behind a record fails with its own error', async () => {
  await expect(
    transact(async (tx) => {
      await record(tx, 'record');
      await query(tx, 'select 1 / $1::int', [0]);
    }),
  ).rejects.toThrow('division by zero');
  expect(await lines()).toEqual([]);
});

test('a rollback sends no record, and leaves nothing', async () => {
  await expect(
    transact(async (tx) => {
      await record(tx, 'unsent');
      throw new Error('not so');
    }),
  ).rejects.toThrow('not so');
  await expect(
    transact(async (tx) => {
      await query(tx, ADD, ['change']);
      await record(tx, 'unsent');
      throw new Error('not so');
    }),
  ).rejects.toThrow('not so');
  expect(await lines()).toEqual([]);
});
