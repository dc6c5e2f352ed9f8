import { randomUUID } from 'node:crypto';
import type { Sql } from './trail.ts';

const named = (): string => `poison_${randomUUID().replaceAll('-', '_')}`;

/** While `work` runs, the database refuses rows of a table that do not fit: whatever statement writes one fails on data. */
export async function withRefused<T>(sql: Sql, table: string, check: string, work: () => Promise<T>): Promise<T> {
  const name = named();
  await sql(`alter table ${table} add constraint ${name} check (${check}) not valid`);
  return work().finally(() => sql(`alter table ${table} drop constraint ${name}`));
}

/** While `work` runs, the service cannot read such rows of a table: whatever statement meets one fails on data, with a division by zero. */
export async function withUnreadable<T>(sql: Sql, table: string, rows: string, work: () => Promise<T>): Promise<T> {
  const name = named();
  // Not a constant, which the planner would compute for every statement.
  await sql(
    `create policy ${name} on ${table} as restrictive for select
      using (case when ${rows} then 1 / position('no digit' in id::text) > 0 else true end)`,
  );
  return work().finally(() => sql(`drop policy ${name} on ${table}`));
}
