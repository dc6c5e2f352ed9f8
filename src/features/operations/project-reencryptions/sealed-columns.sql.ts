// Statements on any table with sealed columns, whose names they are given.
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

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
export const lookStatementOf = (table: SealedTable) =>
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
export function statementsOf(sealedTable: SealedTable, column: string) {
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
