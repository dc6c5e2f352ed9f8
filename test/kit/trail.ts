import { settledSequence } from '../../src/kernel/audit/settled.ts';
import type { Query } from '../../src/kernel/database/database.ts';
import { withRefused } from './poison.ts';
import type { SharedStrongroom } from './shared-strongroom.ts';
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

const IDS = `
  select id::text from secret where project_id = any($1) union select secret_id::text from secret_version where project_id = any($1)
  union select id::text from personal_secret where project_id = any($1)`;

/** Of secrets that the trail has no state of, nobody can say whether they differ. */
const UNKNOWN = `
  with known as materialized (
    select split_part(state, ':', 1) as id from audit_record, jsonb_array_elements_text(facts->'states') as state where project_id = any($1)
  )
  select id::text from secret where project_id = any($1) and id::text not in (select id from known)
  union all select id::text from personal_secret where project_id = any($1) and id::text not in (select id from known)`;

/** How secrets of some projects differ from the audit trail, deleted ones too, as `npm run verify-audit` says. */
export async function differencesIn(strongroom: SharedStrongroom, projectIds: readonly string[]): Promise<string[]> {
  const idsBy = async (statement: string) =>
    (await strongroom.sql(statement, [projectIds])).map(({ id }) => String(id));
  const own = await idsBy(IDS);
  if (own.length === 0) throw new Error('the projects have no secrets that could differ');
  const { differences, output } = await strongroom.verifyAudit();
  if (/^and \d+ more$/m.test(output)) throw new Error(`some of the differences are not listed:\n${output}`);
  return [
    ...differences.filter((line) => own.some((id) => line.includes(id))),
    ...(await idsBy(UNKNOWN)).map((id) => `secret ${id}: has no state in the trail`),
  ];
}

/** While `work` runs, no record of an organization can be stored. */
export async function withoutRecordsOf<T>(
  strongroom: SharedStrongroom,
  organizationId: string,
  work: () => Promise<T>,
): Promise<T> {
  const sql: Sql = (text) => strongroom.sql(text);
  // Whoever seals just then has locked some partitions and waits for others, in a circle with the change of the table.
  await untilSealed(sql);
  return withRefused(sql, 'audit_record', `organization_id <> '${organizationId}'`, work);
}
