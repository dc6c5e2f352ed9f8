import pg from 'pg';

/** A condition on `information_schema.tables`: a table, and no partition of one, whose rows are those of its table. */
export const IS_TABLE = `table_schema = 'public' and table_type = 'BASE TABLE'
  and not (select relispartition from pg_class where oid = to_regclass(format('%I', table_name)))`;

/** Every row of every table of ours as text, by table, in an order of its own: equal exactly when the tables are. */
export const tableContents = (databaseUrl: string): Promise<Record<string, string[]>> => rowsWhere(databaseUrl, 'true');

/** The same of rows in which one of these ids stands somewhere. */
export const rowsWith = (databaseUrl: string, ids: readonly string[]): Promise<Record<string, string[]>> =>
  rowsWhere(databaseUrl, ids.map((id) => `t::text like ${pg.escapeLiteral(`%${id}%`)}`).join(' or '));

function rowsWhere(databaseUrl: string, condition: string): Promise<Record<string, string[]>> {
  return withClient(databaseUrl, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select table_name as name from information_schema.tables where ${IS_TABLE} order by 1`,
    );
    const contents: Record<string, string[]> = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from ${pg.escapeIdentifier(name)} t where ${condition} order by 1`,
      );
      contents[name] = rows.map(({ row }) => row);
    }
    return contents;
  });
}

/** Runs work on a connection of its own. */
export async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A few connections that are kept for statements to come. One that has broken meanwhile is replaced. */
export function smallPool(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 3,
    connectionTimeoutMillis: 10_000,
    allowExitOnIdle: true,
  });
  pool.on('error', () => undefined);
  return pool;
}
