import { randomUUID } from 'node:crypto';
import { defineEntity, LockMode, p, sql } from '@mikro-orm/core';
import type { Pool } from 'pg';
import type { Context, Transaction } from '../../../src/kernel/context.js';
import { Database, emOf } from '../../../src/kernel/database/database.js';
import { flush, inTransaction } from '../../../src/kernel/database/in-transaction.js';
import { POOL_LIMITS } from '../../../src/kernel/database/time-limits.js';
import { NO_ID } from '../../../src/kernel/ids.js';
import { createLog } from '../../../src/kernel/log.js';
import { freshDatabase } from '../../kit/databases.js';
import { withClient } from '../../kit/tables.js';

const ShelfSchema = defineEntity({
  name: 'Shelf',
  tableName: 'shelf',
  properties: { id: p.uuid().primary(), slug: p.text() },
});
class Shelf extends ShelfSchema.class {}
ShelfSchema.setClass(Shelf);

const BoxSchema = defineEntity({
  name: 'Box',
  tableName: 'box',
  properties: {
    id: p.uuid().primary(),
    shelfId: p.uuid(),
    shelf: () => p.manyToOne(Shelf).joinColumn('shelf_id').persist(false),
    name: p.text().nullable(),
    sealed: p.blob(),
    facts: p.json<unknown>(),
    names: p.array(),
    at: p.datetime(3),
    number: p.integer(),
    ratio: p.double(),
    isOpen: p.boolean(),
  },
});
class Box extends BoxSchema.class {}
BoxSchema.setClass(Box);

const TABLES = `
  create table shelf (id uuid primary key, slug text not null);
  create table box (id uuid primary key, shelf_id uuid not null references shelf, name text, sealed bytea not null,
    facts jsonb not null, names text[] not null, at timestamptz(3) not null, number integer not null,
    ratio double precision not null, is_open boolean not null)`;

let url: string;
let database: Database;
/** What the server logs of statements, without their parameters. */
const texts: string[] = [];
beforeAll(async () => {
  url = await freshDatabase();
  await withClient(url, async (client) => {
    await client.query(TABLES);
    const name = new URL(url).pathname.slice(1);
    await client.query(`alter database ${name} set log_statement = 'all'`);
    await client.query(`alter database ${name} set client_min_messages = 'log'`);
  });
  database = await Database.connect(url, { entities: [Box, Shelf] }, createLog('silent'), POOL_LIMITS);
  const { pool } = database as unknown as { pool: Pool };
  pool.on('connect', (client) => client.on('notice', ({ message }) => texts.push(message ?? '')));
  await database.reconnect({ url: null, settings: [] });
});
afterAll(() => database.close());

const ctx = (scope = NO_ID) => ({ database, organizationId: scope, actor: null }) as unknown as Context;
const transact = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => inTransaction(ctx(), work);

const SECRET = `it's "caller's" ? ?? $1 \\? \\ value`;
const AT = new Date('2031-02-03T04:05:06.789Z');
const contentOf = (name: string | null = SECRET) => ({
  name,
  sealed: Buffer.from('c0ffee00ff', 'hex'),
  facts: { key: SECRET, list: [1, 'two', null], at: 'caller' },
  names: [SECRET, 'caller, {"two"}', '', 'null', ' two ', 'two\nlines'],
  at: AT,
  number: 424_242,
  ratio: 0.424_242_5,
  isOpen: true,
});
const OF_CALLERS = /caller|c0ffee|424242|2031|shelf-slug|list|two/i;

/** A shelf, and boxes on it. */
function fill(tx: Transaction, boxes: number): { shelfId: string; ids: string[] } {
  const shelf = tx.em.create(Shelf, { id: randomUUID(), slug: 'shelf-slug' });
  const ids = Array.from({ length: boxes }, () => randomUUID());
  for (const id of ids) tx.em.create(Box, { id, shelfId: shelf.id, ...contentOf() });
  return { shelfId: shelf.id, ids };
}

describe('the entity manager', () => {
  test('writes and reads every kind of value, and has none of them in the text of a statement', async () => {
    const { shelfId, ids } = await transact(async (tx) => fill(tx, 3));
    const [first, second, third] = ids as [string, string, string];
    const single = await transact((tx) =>
      tx.em.findOneOrFail(Box, { id: first }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    );
    expect(single).toMatchObject({ id: first, shelfId, ...contentOf() });
    await transact(async (tx) => {
      await tx.em.insertMany(Box, [{ id: randomUUID(), shelfId, ...contentOf(null) }]);
      await tx.em.upsert(Box, { id: third, shelfId, ...contentOf('caller two') });
      const boxes = await tx.em.find(Box, { id: { $in: [first, second] } });
      for (const box of boxes)
        Object.assign(box, { facts: [SECRET, 2], number: 7, sealed: Buffer.from('c0ffee', 'hex') });
      await flush(tx);
      expect(
        await tx.em.nativeUpdate(Box, { id: first, number: 7 }, { facts: ['two'], name: null, at: sql`now()` }),
      ).toBe(1);
      expect(await tx.em.nativeUpdate(Box, { id: first, number: 424_242 }, { name: SECRET })).toBe(0);
    });
    const em = emOf(ctx());
    expect(
      await em.find(Box, { name: { $like: 'caller%' }, sealed: contentOf().sealed }, { fields: ['id'] }),
    ).toMatchObject([{ id: third }]);
    expect(await em.findOne(Box, { id: second })).toMatchObject({
      ...contentOf(),
      facts: [SECRET, 2],
      number: 7,
      sealed: Buffer.from('c0ffee', 'hex'),
    });
    expect(await em.count(Box, { at: AT, ratio: { $gt: 0.424_242 }, names: { $contains: [SECRET] } })).toBe(3);
    expect(await em.find(Box, { $or: [{ name: null }, { name: { $nin: [SECRET, 'caller two'] } }] })).toHaveLength(2);
    expect(await em.find(Box, { facts: { key: SECRET } })).toHaveLength(2);
    expect(await transact((tx) => tx.em.nativeDelete(Box, { name: 'caller two' }))).toBe(1);
    expect(texts.filter((text) => /^execute .*box/s.test(text)).length).toBeGreaterThan(10);
    expect(texts.filter((text) => OF_CALLERS.test(text))).toEqual([]);
  });

  test('finds rows by those that they belong to, and these with them', async () => {
    const { shelfId } = await transact(async (tx) => fill(tx, 2));
    const boxes = await emOf(ctx()).find(Box, { shelf: { id: shelfId, slug: 'shelf-slug' } }, { populate: ['shelf'] });
    expect(boxes.map(({ shelf }) => shelf.slug)).toEqual(['shelf-slug', 'shelf-slug']);
    expect(boxes.map((box) => box.shelfId)).toEqual([shelfId, shelfId]);
  });

  test('has one text for lists of any length', async () => {
    texts.length = 0;
    for (const length of [1, 2, 30])
      await emOf(ctx()).find(Box, { id: { $in: Array.from({ length }, () => randomUUID()) } });
    expect(new Set(texts.filter((text) => text.includes('select'))).size).toBe(1);
  });

  test('asks for several things at once in one round trip of a transaction, and begins and ends it with the others', async () => {
    const before = database.statements.request;
    await transact(async (tx) => {
      const found = await Promise.all([
        tx.em.count(Box, {}),
        tx.em.findOne(Shelf, { slug: 'none' }),
        tx.em.count(Shelf, {}),
      ]);
      expect(found).toEqual([expect.any(Number), null, expect.any(Number)]);
    });
    expect(database.statements.request - before).toBe(5);
  });

  test('outside of a transaction neither changes nor locks anything, and after one does nothing', async () => {
    const em = emOf(ctx()) as Transaction['em'];
    for (const change of [
      () => em.nativeUpdate(Box, {}, { name: null }),
      () => em.nativeDelete(Box, {}),
      () => em.findOne(Box, { id: NO_ID }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    ])
      await expect(change()).rejects.toThrow('changes and locks need a transaction');
    const late = await transact(async (tx) => tx.em);
    await expect(late.find(Box, {})).rejects.toThrow('the transaction is over');
  });

  test('reaches the rows of its scope', async () => {
    const scope = randomUUID();
    database.isBounded = true;
    try {
      const seen = sql`current_setting('strongroom.organization')`;
      await transact(async (tx) => fill(tx, 1));
      const read = (from: Context) =>
        emOf(from).createQueryBuilder(Shelf).select(seen.as('scope')).limit(1).execute('all');
      expect(await read(ctx(scope))).toEqual([{ scope }]);
      expect(await inTransaction(ctx(scope), read)).toEqual([{ scope }]);
    } finally {
      database.isBounded = false;
    }
  });
});
