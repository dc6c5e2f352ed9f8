import type { EntityMetadata } from '@mikro-orm/core';
import { MikroORM } from '@mikro-orm/postgresql';
import { assemble } from '../../src/app.js';
import { ormOptions } from '../../src/kernel/database/orm-options.js';
import { migratedDatabase } from '../kit/databases.js';
import { withClient } from '../kit/tables.js';

const { entities } = assemble();
let url: string;

beforeAll(async () => {
  url = await migratedDatabase();
});

type Orm = Awaited<ReturnType<typeof open>>;
const open = (known: typeof entities) => MikroORM.init(ormOptions(url, { entities: known }));

async function withOrm<T>(known: typeof entities, work: (orm: Orm) => T | Promise<T>): Promise<T> {
  const orm = await open(known);
  try {
    return await work(orm);
  } finally {
    await orm.close(true);
  }
}

/**
 * What only the migrations state: foreign keys, checks, triggers, views, policies, indexes that are no constraints, and the identity in a
 * key of several columns, which MikroORM takes for a default.
 */
const OF_THE_MIGRATIONS =
  /^(alter table \S+ (drop constraint |disable row level security)|drop (index|trigger|function|view|policy) |alter table "audit_record" alter column "sequence" drop default;$)/;

/** The changes by which the database would become what the entities state. */
const missingChanges = (known: typeof entities): Promise<string[]> =>
  withOrm(known, async (orm) => {
    const changes = await orm.schema.getUpdateSchemaSQL({ wrap: false });
    return changes.split('\n').filter((line) => line !== '' && !OF_THE_MIGRATIONS.test(line));
  });

/** What MikroORM does not compare: primary keys, and what arrays hold. */
const COLUMNS = `
  select c.relname || '.' || a.attname || case when a.attnum = any(k.conkey) then ' primary' else '' end
      || case when t.typcategory = 'A' then ' ' || format_type(a.atttypid, null) else '' end as "column"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> 'schema_migration'`;

// No primary key of Postgres has columns that may be null. MikroORM takes no entity without one.
const WITHOUT_PRIMARY_KEY = ['SecretReference'];

const columnsOf = ({ className, tableName, props }: EntityMetadata): string[] =>
  props
    .filter(({ persist }) => persist !== false)
    .map(({ primary, fieldNames, columnTypes }) => {
      const mark = primary && !WITHOUT_PRIMARY_KEY.includes(className) ? ' primary' : '';
      const type = columnTypes[0]?.endsWith('[]') ? ` ${columnTypes[0]}` : '';
      return `${tableName}.${fieldNames[0]}${mark}${type}`;
    });

describe('the entities', () => {
  test('state the tables of a migrated database: their columns, types, defaults and unique keys', async () => {
    expect(await missingChanges(entities)).toEqual([]);
  });

  test('state its primary keys, and what its arrays hold', async () => {
    const { rows } = await withClient(url, (client) => client.query<{ column: string }>(COLUMNS));
    const stated = await withOrm(entities, (orm) => [...orm.getMetadata().getAll().values()].flatMap(columnsOf));
    expect(stated.sort()).toEqual(rows.map(({ column }) => column).sort());
  });

  test('would not without one of the tables', async () => {
    const others = entities.filter(({ name }) => name !== 'Tag');
    expect(await missingChanges(others)).toEqual(['drop table if exists "tag" cascade;']);
  });
});
