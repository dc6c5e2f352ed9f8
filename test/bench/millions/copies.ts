import type pg from 'pg';

/** Tables of a project, each with the columns that name rows of it. The other columns are copied as they are. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  project: ['id', 'kms_secret_manager_key_id'],
  data_key: ['id', 'project_id'],
  environment: ['id', 'project_id'],
  folder: ['id', 'project_id', 'environment_id', 'parent_id'],
  tag: ['id', 'project_id'],
  project_membership: ['id', 'project_id'],
  access_history: ['project_id', 'row_id'],
  audit_record: ['id', 'project_id', 'subject_id'],
  secret: ['id', 'project_id', 'environment_id', 'folder_id'],
  secret_version: ['secret_id', 'project_id', 'environment_id', 'folder_id'],
  secret_reference: ['secret_id', 'project_id'],
  secret_tag: ['secret_id', 'tag_id'],
};

/** What copies have in place of the value of a column. */
const CHANGED: Readonly<Record<string, string>> = {
  'project.name': `'Service ' || lpad(n::text, 6, '0')`,
  'project.slug': `'service-' || lpad(n::text, 6, '0')`,
  // Digests of equal values differ from project to project.
  'secret.value_digest': 'sha256(value_digest || int4send(n))',
  'secret_version.tag_ids': 'array(select pg_temp.copied(tag_id, n) from unnest(tag_ids) as tag_id)',
};

/** Rows of one statement. More at once takes no less time for each. */
const ROWS_AT_ONCE = 100_000;

const COPIED = `create function pg_temp.copied(id uuid, n integer) returns uuid immutable language sql
  as $$ select md5(id::text || n)::uuid $$`;

/** For a load of any size: nothing is checked twice, and a crash of the machine may take the database with it. */
const UNSAFE = ['fsync = off', 'full_page_writes = off', `max_wal_size = '4GB'`, 'autovacuum = off'];
const OF_LOAD = [
  // No trigger and no foreign key: the rows are right already.
  'session_replication_role = replica',
  'synchronous_commit = off',
  `maintenance_work_mem = '512MB'`,
  'allow_system_table_mods = on',
];

/** Indexes are left alone while rows are added, and made anew from all of them: a tenth of the time. */
const LEAVE_INDEXES =
  'update pg_index set indisready = false, indisvalid = false where indrelid = any($1::regclass[]::oid[])';

/**
 * Copies a project with all that is in it, project by project, as each would have been filled by itself: ids are random, and values
 * cannot be decrypted.
 */
export async function copyProject(client: pg.Client, templateId: string, copies: number): Promise<void> {
  for (const setting of UNSAFE) await client.query(`alter system set ${setting}`);
  await client.query('select pg_reload_conf()');
  for (const setting of OF_LOAD) await client.query(`set ${setting}`);
  await client.query(COPIED);
  const tables = Object.keys(TABLES);
  const statements: string[] = [];
  for (const table of tables) {
    await client.query(
      `create temp table template_${table} as select * from ${table} where ${ofProject(table, templateId)}`,
    );
    statements.push(await copyOf(client, table));
  }
  const plain = tables.filter((table) => table !== 'audit_record');
  await client.query(LEAVE_INDEXES, [plain]);
  const { rows } = await client.query('select count(*)::int as count from template_secret');
  const atOnce = Math.max(1, Math.floor(ROWS_AT_ONCE / rows[0].count));
  for (let from = 1; from <= copies; from += atOnce) {
    for (const statement of statements) await client.query(statement, [from, Math.min(copies, from + atOnce - 1)]);
  }
  for (const table of plain) await client.query(`reindex table ${table}`);
  await client.query('vacuum analyze');
}

async function copyOf(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
       and attgenerated = '' and attidentity = '' order by attnum`,
    [table],
  );
  const columns = rows.map(({ name }) => String(name));
  const values = columns.map((column) => {
    if (TABLES[table]?.includes(column)) return `pg_temp.copied(${column}, n)`;
    return CHANGED[`${table}.${column}`] ?? column;
  });
  // The inner query is carried out for each copy: one project after the other.
  return `insert into ${table} (${columns.join()}) select ${values.join()} from generate_series($1::integer, $2::integer) as n
    cross join lateral (select * from template_${table} offset 0 * n) as row`;
}

function ofProject(table: string, id: string): string {
  if (table === 'project') return `id = '${id}'`;
  if (table === 'secret_tag') return `secret_id in (select id from secret where project_id = '${id}')`;
  return `project_id = '${id}'`;
}
