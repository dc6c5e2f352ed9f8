import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { withClient } from '../kit/tables.ts';
import { expectThat } from './check.ts';

/** The policy refuses what a statement would write. */
const REFUSED = '42501';
/** What a column without a default gets, by the first letters of its type. */
const VALUES: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()',
  text: `'x'`,
  integer: '1',
  smallint: '1',
  bigint: '1',
  double: '1',
  boolean: 'false',
  bytea: `'\\x00'`,
  inet: `'192.0.2.1'`,
  json: `'{}'`,
  date: 'now()',
  timestamp: 'now()',
  interval: `'1 day'`,
};

interface Table {
  readonly name: string;
  /** Those that a statement may write, in SQL. */
  readonly columns: string;
  /** Expressions of a row of an organization, which is `$1`. */
  readonly values: string;
}

/** Tables with a policy. */
async function fencedTables(owner: pg.Client): Promise<Table[]> {
  const { rows } = await owner.query<{ name: string; column: string; type: string }>(
    `select c.relname::text as name, a.attname::text as column, format_type(a.atttypid, null) as type
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relrowsecurity and a.attgenerated = '' and a.attidentity = '' and (a.attnotnull or a.attname = 'organization_id')
      order by 1, a.attnum`,
  );
  const tables = Map.groupBy(rows, ({ name }) => name);
  return [...tables].map(([name, columns]) => ({
    name,
    columns: columns.map(({ column }) => `"${column}"`).join(', '),
    values: columns
      .map(({ column, type }) => (column === 'organization_id' ? '$1::uuid' : placeholder(type)))
      .join(', '),
  }));
}

const placeholder = (type: string): string =>
  type.endsWith('[]') ? `'{}'` : (VALUES[/^(json|\w+)/.exec(type)?.[0] ?? ''] ?? 'null');

/** Leaves tables without what else would refuse a row: the policies alone decide. */
const BARE = `do $$
declare it record;
begin
  for it in select c.conrelid::regclass as name, c.conname from pg_constraint c join pg_class r on r.oid = c.conrelid
    where r.relrowsecurity and c.contype in ('c', 'f') loop
    execute format('alter table %s drop constraint %I', it.name, it.conname);
  end loop;
  for it in select relname as name from pg_class where relrowsecurity loop
    execute format('alter table %I disable trigger user', it.name);
  end loop;
end $$`;

/** Runs statements as the service would, and takes them back. */
async function asService<T>(url: string, scope: string | null, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(url, async (client) => {
    await client.query(`set role strongroom_service_${new URL(url).pathname.slice(1)}`);
    await client.query('begin');
    if (scope !== null) await client.query(`select set_config('strongroom.organization', $1, true)`, [scope]);
    return work(client);
  });
}

/** Rows that a statement reaches; none where the role has no right to such a statement at all. */
async function countOf(client: pg.Client, text: string, params: unknown[] = []): Promise<number> {
  await client.query('savepoint counted');
  return client.query(text, params).then(
    ({ rowCount }) => rowCount ?? 0,
    async (error: { code?: string }) => {
      await client.query('rollback to counted');
      if (error.code !== REFUSED) throw error;
      return 0;
    },
  );
}

/** SQLSTATE of a statement that fails; the transaction goes on. */
async function refusalOf(client: pg.Client, text: string, params: unknown[] = []): Promise<string | undefined> {
  await client.query('savepoint here');
  const code = await client.query(text, params).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
  await client.query('rollback to here');
  return code;
}

/** Every kind of statement on a table, without a filter, in the scope of `own`: what it reaches of `other`. */
async function reached(
  client: pg.Client,
  { name, columns, values }: Table,
  own: string,
  other: string,
): Promise<string[]> {
  const isForeign = `organization_id = '${other}'`;
  const kinds: Readonly<Record<string, number>> = {
    select: await countOf(client, `select from ${name} where ${isForeign}`),
    'for update': await countOf(client, `select from ${name} where ${isForeign} for update`),
    update: await countOf(client, `update ${name} set organization_id = organization_id where ${isForeign}`),
    delete: await countOf(client, `delete from ${name} where ${isForeign}`),
  };
  const insert = `insert into ${name} (${columns}) select ${values}`;
  const moved = `update ${name} set organization_id = '${other}' where organization_id = '${own}'`;
  const wrong = [
    ...Object.entries(kinds).flatMap(([kind, count]) => (count === 0 ? [] : [`${kind} reaches ${count}`])),
    ...((await refusalOf(client, insert, [other])) === REFUSED ? [] : ['insert is not refused']),
    ...((await refusalOf(client, moved)) === REFUSED ? [] : ['a row can be given away']),
    ...((await countOf(client, `select from ${name} where organization_id = '${own}'`)) === 1
      ? []
      : ['own row is hidden']),
    ...((await refusalOf(client, `truncate ${name}`)) === REFUSED ? [] : ['truncate is not refused']),
  ];
  return wrong.map((what) => `${name}: ${what}`);
}

/**
 * One row of each of two organizations in every table with a policy, and every kind of statement as the role of the service.
 *
 * @param url of a database that a service has migrated, and that nobody needs any more
 * @param openTables those of which rows are found without a scope
 * @returns how many tables there are
 */
export async function judgePolicies(url: string, openTables: readonly string[]): Promise<number> {
  const [own, other] = [randomUUID(), randomUUID()];
  const tables = await withClient(url, async (owner) => {
    await owner.query(BARE);
    const found = await fencedTables(owner);
    for (const { name, columns, values } of found)
      for (const organization of [own, other])
        await owner.query(`insert into ${name} (${columns}) select ${values}`, [organization]);
    return found;
  });
  await asService(url, own, async (client) => {
    for (const table of tables) {
      const wrong = await reached(client, table, own, other);
      expectThat(wrong.length === 0, wrong.join('; '));
    }
  });
  for (const scope of [null, '', randomUUID()])
    await asService(url, scope, async (client) => {
      for (const { name } of tables) {
        const isOpen = !scope && openTables.includes(name);
        const count = await countOf(client, `select from ${name} where organization_id in ($1, $2)`, [own, other]);
        expectThat(count === (isOpen ? 2 : 0), `in the scope ${scope}, ${name} shows ${count} rows`);
      }
    });
  return tables.length;
}

/** What a role is that it should not be, of the one that a service works with. */
export const powersOf = (url: string): Promise<string[]> =>
  withClient(url, async (owner) => {
    const role = `strongroom_service_${new URL(url).pathname.slice(1)}`;
    const { rows } = await owner.query<{ power: string }>(
      `select power from pg_roles r, lateral (values ('superuser', rolsuper), ('bypassrls', rolbypassrls), ('createrole', rolcreaterole),
         ('createdb', rolcreatedb), ('owner of something', exists (select from pg_class c where c.relowner = r.oid)),
         ('member of the owner', exists (select from pg_class c where c.relrowsecurity and pg_has_role(r.oid, c.relowner, 'MEMBER')))) p(power, has)
       where r.rolname = $1 and has union all select 'missing' where not exists (select from pg_roles where rolname = $1)`,
      [role],
    );
    return rows.map(({ power }) => power);
  });
