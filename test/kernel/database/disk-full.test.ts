import pg from 'pg';
import { Database } from '../../../src/kernel/database/database.js';
import { freshDatabase } from '../../kit/databases.js';
import { withClient } from '../../kit/tables.js';

const NO_ROOM = `language plpgsql as $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$`;

describe('a database whose disk is full', () => {
  let database: Database;
  let url: string;
  beforeAll(async () => {
    url = await freshDatabase();
    // Before what the server has under these names.
    await withClient(url, async (client) => {
      const { rows } = await client.query('select current_database() as name');
      await client.query(`alter database ${pg.escapeIdentifier(rows[0].name)} set search_path = public, pg_catalog`);
    });
    database = await Database.connect(url, {});
  });
  afterAll(() => database.close());

  test('takes changes until a statement fails for it, and again when one finds room', async () => {
    await database.query(`create function public.lo_from_bytea(integer, bytea) returns oid ${NO_ROOM}`);
    await database.query(`create function public.store() returns void ${NO_ROOM}`);
    expect(await database.takesChanges()).toBe(true);
    await expect(database.query('select store()')).rejects.toMatchObject({ code: '53100' });
    expect(await database.takesChanges()).toBe(false);
    expect(await database.takesChanges()).toBe(false);
    await database.query('drop function public.lo_from_bytea(integer, bytea)');
    expect(await database.takesChanges()).toBe(true);
    // And it is whole again, with nothing left of what was tried.
    expect(await database.query('select loid from pg_largeobject')).toEqual([]);
  });

  test('is not suspected of it for an error of another kind', async () => {
    await expect(database.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    expect(await database.takesChanges()).toBe(true);
  });
});
