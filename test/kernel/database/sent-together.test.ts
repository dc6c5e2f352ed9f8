import { randomUUID } from 'node:crypto';
import type { Context, Transaction } from '../../../src/kernel/context.js';
import { Database, query } from '../../../src/kernel/database/database.js';
import { inTransaction } from '../../../src/kernel/database/in-transaction.js';
import { localSettings, sendWithNext } from '../../../src/kernel/database/scope.js';
import { POOL_LIMITS } from '../../../src/kernel/database/time-limits.js';
import { createLog } from '../../../src/kernel/log.js';
import { freshDatabase } from '../../kit/strongroom.js';

const ADD = 'insert into line (text) values ($1)';
const SCOPE = `select current_setting('strongroom.organization', true) as scope`;

let database: Database;
const organizationId = randomUUID();

beforeAll(async () => {
  database = await Database.connect(await freshDatabase(), {}, createLog('silent'), { ...POOL_LIMITS, connections: 1 });
  database.isBounded = true;
  await database.query('create table line (text text primary key)');
  for (const text of [ADD, SCOPE]) database.prepare(text);
});
afterAll(() => database.close());

const transact = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
  inTransaction({ database, organizationId, actor: null } as unknown as Context, work);
/** A statement that nobody waits for. */
const record = (tx: Transaction, text: string, add = ADD): Promise<unknown> =>
  sendWithNext(
    () => query(tx, add, [text]),
    () => new Error('it could not be recorded'),
  );
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
