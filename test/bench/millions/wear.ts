import type pg from 'pg';
import { cell } from './sizes.ts';

/** One of this many secrets of the copies gets another value. */
const ONE_OF = 10;
const WORN = ['secret', 'secret_version'] as const;
const MIB = 1024 * 1024;

/** What a change of a value writes: a version, and a row in a new place, as its digest is in indexes. */
const REWRITE = [
  `insert into secret_version select s.id, s.version + 1, s.organization_id, s.project_id, s.environment_id, s.folder_id, f.path, s.key, false,
     s.value_sealed, s.comment_sealed, s.metadata, s.metadata_sealed, s.skip_multiline_encoding, s.reminder_note, s.reminder_repeat_days,
     s.reminder_recipient_ids, '{}', s.actor_kind, s.actor_id, now()
   from secret s join folder f on f.id = s.folder_id where s.project_id <> all($1) and uuid_hash(s.id) % ${ONE_OF} = 0`,
  `update secret set version = version + 1, value_digest = sha256(value_digest), updated_at = now()
   where project_id <> all($1) and uuid_hash(id) % ${ONE_OF} = 0`,
];

interface Extent {
  readonly table: string;
  readonly rows: number;
  readonly dead: number;
  readonly bytes: number;
  readonly indexes: number;
}

/** Rewrites a tenth of the secrets, which nothing cleans up. @param realIds projects whose secrets are read, and stay as they are */
export async function rewrite(client: pg.Client, realIds: readonly string[]): Promise<void> {
  for (const statement of REWRITE) await client.query(statement, [realIds]);
}

/** Prints what is left of rewritten rows, and what it takes to clean it up. */
export async function printWear(client: pg.Client): Promise<void> {
  await client.query('select pg_stat_force_next_flush()');
  console.log(
    '\n| Table | Rows | Dead rows | Table, MiB | Indexes, MiB | Seconds of its vacuum |\n|---|---|---|---|---|---|',
  );
  for (const table of WORN) {
    const { rows } = await client.query<Extent>(
      `select n_live_tup::float as rows, n_dead_tup::float as dead, pg_table_size(relid)::float as bytes, pg_indexes_size(relid)::float as indexes
       from pg_stat_user_tables where relname = $1`,
      [table],
    );
    const { rows: count, dead, bytes, indexes } = rows[0] as Extent;
    const begun = performance.now();
    await client.query(`vacuum ${table}`);
    const seconds = (performance.now() - begun) / 1_000;
    console.log(
      `| \`${table}\` | ${[count, dead, bytes / MIB, indexes / MIB].map(cell).join(' | ')} | ${seconds.toFixed(0)} |`,
    );
  }
}
