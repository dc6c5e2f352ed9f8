import type pg from 'pg';

const MIB = 1024 * 1024;

/** Tables of more than a MiB. Names of indexes of partitions are made by Postgres, and are left out with their tables. */
const SIZES = `
  select coalesce(i.relname, t.relname) as name, i.oid is not null as "isIndex",
    case when i.oid is null then pg_table_size(t.oid) else pg_relation_size(i.oid) end::float as bytes,
    t.reltuples as rows
  from pg_class t
  left join lateral (
    select null::oid as oid, null::name as relname union all
    select c.oid, c.relname from pg_index x join pg_class c on c.oid = x.indexrelid where x.indrelid = t.oid
  ) i on true
  where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace and t.reltuples > 0 and pg_total_relation_size(t.oid) > ${MIB}
  order by pg_total_relation_size(t.oid) desc, i.oid is not null, 3 desc`;

const TOTAL = `select pg_database_size(current_database())::float as bytes, (select count(*)::int from secret) as secrets`;

/** A cell of a table: separators for thousands, as in our documents. */
export const cell = (value: number): string => Math.round(value).toLocaleString('en');

/** Prints the large tables with their indexes, and the whole. */
export async function printSizes(client: pg.Client): Promise<void> {
  const { rows: found } = await client.query(SIZES);
  console.log('\n| Table or index | Rows | MiB | Bytes per row |\n|---|---|---|---|');
  for (const { name, isIndex, bytes, rows } of found)
    console.log(
      `| ${isIndex ? '· ' : ''}\`${name}\` | ${isIndex ? '' : cell(rows)} | ${cell(bytes / MIB)} | ${cell(bytes / rows)} |`,
    );
  const [{ bytes, secrets }] = (await client.query(TOTAL)).rows;
  console.log(`\n${cell(bytes / MIB)} MiB for ${cell(secrets)} secrets: ${cell(bytes / secrets)} bytes for each`);
}
