import { settledSequence } from '../../src/kernel/audit/settled.ts';
import type { Query } from '../../src/kernel/database/database.ts';
import { until } from './until.ts';

const WITHIN_MS = 20_000;

const NEWEST = 'select coalesce(max(sequence), 0)::text as newest from audit_record';

/** A statement on the database, as its owner. */
export type Sql = (text: string) => Promise<Record<string, unknown>[]>;

/** How far the seals reach, and the newest row. */
export async function reachOf(sql: Sql): Promise<{ sealed: bigint; newest: bigint }> {
  const sealed = await settledSequence(sql as Query);
  const [row] = await sql(NEWEST);
  return { sealed, newest: BigInt(String(row?.newest)) };
}

/** Waits until all rows of the audit trail are sealed: from then on it is at rest, as long as nobody calls. */
export async function untilSealed(sql: Sql): Promise<void> {
  await until('all rows to be sealed', WITHIN_MS, async () => {
    const { sealed, newest } = await reachOf(sql);
    return sealed >= newest;
  });
}

/** A change of the table and of each of its partitions. */
const partitions = (change: string): string => `do $$ declare part regclass; begin
  for part in select relid from pg_partition_tree('audit_record') loop execute format('alter table %s ${change}', part); end loop; end $$`;

/** Changes the audit trail as somebody who owns the tables: nothing but the seals tells of it. */
export async function tamper(sql: Sql, ...statements: string[]): Promise<void> {
  await sql(
    [
      partitions('disable trigger all'),
      'alter table audit_seal disable trigger all',
      'alter table audit_disclosure disable trigger all',
      'alter table audit_expiry disable trigger all',
      ...statements,
      partitions('enable always trigger audit_record_append_only'),
      'alter table audit_seal enable always trigger audit_seal_append_only',
      'alter table audit_disclosure enable always trigger audit_disclosure_append_only',
      'alter table audit_expiry enable always trigger audit_expiry_append_only',
    ].join(';\n'),
  );
}
