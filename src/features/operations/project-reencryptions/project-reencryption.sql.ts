import { sql } from 'kysely';
import type { OrganizationKeySchema } from '../../../kernel/crypto/keys.entity.js';
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, columnsOf, pageByNewest, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import type { ProjectSchema } from '../../projects/public.js';
import { ProjectReencryptionSchema, type ReencryptionState } from './project-reencryption.entity.js';

interface OfProject {
  readonly projectId: string;
}

interface One {
  readonly id: string;
}

const tables = tablesOf<typeof ProjectReencryptionSchema | typeof ProjectSchema | typeof OrganizationKeySchema>();
const reencryptions = tables.selectFrom('project_reencryption').select(columnsOf(ProjectReencryptionSchema));

/** Re-encryptions by ID, in any project. */
export const findReencryptions = prepared(({ ids }: { readonly ids: readonly string[] }) =>
  reencryptions.where('id', '=', anyOf(ids)),
);

/** A re-encryption as read from the database. */
export type ReencryptionRow = Awaited<ReturnType<typeof findReencryptions>>[number];

/** Re-encryptions of a project, newest first. */
export const listReencryptions = prepared((page: TimeBounds & OfProject) =>
  reencryptions.where('project_id', '=', page.projectId).$call(pageByNewest('created_at', 'id', page)),
);

/** Holds a project and its organization key until the transaction ends: nobody changes them or rotates the key. */
export const lockProjectKey = prepared(({ projectId }: OfProject) =>
  tables
    .selectFrom('project as p')
    .innerJoin('organization_key as k', 'k.id', 'p.kms_secret_manager_key_id')
    .select('k.disabled_at as disabledAt')
    .where('p.id', '=', projectId)
    .forNoKeyUpdate('p')
    .forShare('k'),
);

/** Changes the state of a re-encryption that has not ended. To let one run that is not paused changes nothing. */
export const changeState = prepared(
  ({ id, projectId, state }: One & OfProject & { readonly state: 'running' | 'paused' | 'cancelled' }) =>
    tables
      .updateTable('project_reencryption')
      .set({
        state: sql<ReencryptionState>`case when ${state}::text = 'running' and state <> 'paused' then state else ${state} end`,
        finished_at: sql`case when ${state} = 'cancelled' then now() end`,
        updated_at: sql`now()`,
      })
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .where('finished_at', 'is', null)
      .returning('state'),
);

/**
 * Stores that a pass has left nothing to do, and which transactions are open: these may still write or read what former keys sealed.
 * The next pass is from the first row. Values that others wrote anew or deleted meanwhile had not to be sealed anew: the total is what
 * had to be.
 */
export const settle = prepared(({ id }: One) =>
  tables
    .updateTable('project_reencryption')
    .set({
      state: 'settling',
      settling_since: sql`now()`,
      settling_transactions: sql`array(select distinct virtualtransaction from pg_locks where locktype = 'virtualxid')`,
      unreadable_values: sql`pass_unreadable`,
      total_values: sql`done_values + pass_unreadable`,
      pass_table: null,
      pass_row_id: null,
      pass_part: null,
      pass_done: 0,
      pass_unreadable: 0,
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .where('state', 'in', ['running', 'settling']),
);

/**
 * Whether nobody can still write or read what a retired key sealed: five minutes have passed, enough for a request to begin a
 * transaction, and all that were open have ended.
 */
export const isSettled = prepared(({ id }: One) =>
  tables
    .selectFrom('project_reencryption')
    .select(
      sql<boolean>`settling_since <= now() - interval '5 minutes' and not exists (
        select from pg_locks l where l.locktype = 'virtualxid' and l.virtualtransaction = any(settling_transactions))`.as(
        'isSettled',
      ),
    )
    .where('id', '=', id)
    .where('state', '=', 'settling'),
);

// Statements on any table with sealed columns, whose names they are given.

/** Bytes that a batch may have, unless it is a single value. */
const MAX_BYTES = 8 * 1024 * 1024;

/** What was sealed with one of these keys, in the rows of a project that follow a position. */
const FROM = { projectId: t.uuid, keys: t.array(t.bytea), afterId: t.uuid, afterPart: t.integer } as const;

const sealedOf = (column: string): string => `r.${column}_sealed`;
const partOf = ({ part }: SealedTable): string => (part === undefined ? '0' : `r.${part}`);

/** A record begins with its format, one byte, and the ID of its key. */
const isPending = (column: string): string => `substring(${sealedOf(column)} from 2 for 16) = any(:keys::bytea[])`;

const isAfter = (table: SealedTable): string =>
  `r.project_id = :projectId and r.${table.rowId} >= :afterId::uuid and (r.${table.rowId}, ${partOf(table)}) > (:afterId::uuid, :afterPart::integer)`;

/** The position that some rows of a project further is, and how many values the keys sealed in between. No row: there are no more. */
export const scanStatementOf = (table: SealedTable) =>
  sqlStatement({
    text: `with reach as (
        select r.${table.rowId} as id, ${partOf(table)}::integer as part,
          ${Object.keys(table.columns)
            .map((column) => `coalesce(${isPending(column)}, false)::integer`)
            .join(' + ')} as pending
        from ${table.table} r where ${isAfter(table)} order by 1, 2 limit :most::integer
      )
      select id, part, (select sum(pending)::integer from reach) as pending from reach order by id desc, part desc limit 1`,
    params: { ...FROM, most: t.integer },
    row: { id: t.uuid, part: t.integer, pending: t.integer },
  });

/** The statements on one sealed column of a table. @param column without its ending */
export function reencryptionStatementsOf(sealedTable: SealedTable, column: string) {
  const { table, rowId, columns, digest } = sealedTable;
  const sealed = sealedOf(column);
  const part = partOf(sealedTable);
  const version = columns[column];
  return {
    /** The next values up to a position, held until the transaction ends: what is written meanwhile waits, and is not lost. */
    next: sqlStatement({
      text: `select id, part, version, sealed, former from (
          select f.*, coalesce(sum(octet_length(f.sealed)) over (order by f.id, f.part rows between unbounded preceding and 1 preceding), 0)
            as before
          from (
            select r.${rowId} as id, ${part}::integer as part,
              ${typeof version === 'string' ? `r.${version}` : version}::integer as version, ${sealed} as sealed,
              ${digest === undefined ? `''` : digest('r')} as former
            from ${table} r
            where ${isAfter(sealedTable)} and r.${rowId} <= :lastId::uuid and (r.${rowId}, ${part}) <= (:lastId::uuid, :lastPart::integer)
              and ${isPending(column)}
            order by 1, 2 limit :most::integer for no key update of r
          ) f
        ) s where before < ${MAX_BYTES} order by id, part`,
      params: { ...FROM, lastId: t.uuid, lastPart: t.integer, most: t.integer },
      row: { id: t.uuid, part: t.integer, version: t.integer, sealed: t.bytea, former: t.text },
    }),
    /** Stores them sealed anew, where they still are what was sealed. */
    store: sqlStatement({
      text: `update ${table} r set ${column}_sealed = given.fresh
        from unnest(:ids::uuid[], :parts::integer[], :former::bytea[], :fresh::bytea[]) as given (id, part, former, fresh)
        where r.${rowId} = given.id and ${part} = given.part and ${sealed} = given.former
        returning r.${rowId} as id, ${digest === undefined ? `0 as version, '' as digest` : `r.version, ${digest('r')} as digest`}`,
      params: { ids: t.array(t.uuid), parts: t.array(t.integer), former: t.array(t.bytea), fresh: t.array(t.bytea) },
      row: { id: t.uuid, version: t.integer, digest: t.text },
    }),
  };
}
