import type { SealedTable } from '../../kernel/crypto/sealed-table.js';
import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Bytes that a batch may have, unless it is a single value. */
const MAX_BYTES = 8 * 1024 * 1024;

/** What was sealed with one of these keys. */
const KEYS = { projectId: t.uuid, keys: t.array(t.bytea) } as const;

/** The statements on one sealed column of a table. @param column without its ending */
export function statementsOf({ table, rowId, part, columns, digest }: SealedTable, column: string) {
  const sealed = `r.${column}_sealed`;
  const partOf = part === undefined ? '0' : `r.${part}`;
  const version = columns[column];
  // A record begins with its format, one byte, and the ID of its key.
  const isPending = `r.project_id = :projectId and substring(${sealed} from 2 for 16) = any(:keys::bytea[])`;
  return {
    /** Values of a project that the keys sealed. */
    count: sqlStatement({
      text: `select count(*)::integer as count from ${table} r where ${isPending}`,
      params: KEYS,
      row: { count: t.integer },
    }),
    /** The next of them, held until the transaction ends: what is written meanwhile waits, and is not lost. */
    next: sqlStatement({
      text: `select id, part, version, sealed, former from (
          select f.*, coalesce(sum(octet_length(f.sealed)) over (order by f.id, f.part rows between unbounded preceding and 1 preceding), 0)
            as before
          from (
            select r.${rowId} as id, ${partOf}::integer as part,
              ${typeof version === 'string' ? `r.${version}` : version}::integer as version, ${sealed} as sealed,
              ${digest === undefined ? `''` : digest('r')} as former
            from ${table} r
            where ${isPending} and r.${rowId} >= :afterId::uuid and (r.${rowId}, ${partOf}) > (:afterId::uuid, :afterPart::integer)
            order by 1, 2 limit :most::integer for no key update of r
          ) f
        ) s where before < ${MAX_BYTES} order by id, part`,
      params: { ...KEYS, afterId: t.uuid, afterPart: t.integer, most: t.integer },
      row: { id: t.uuid, part: t.integer, version: t.integer, sealed: t.bytea, former: t.text },
    }),
    /** Stores them sealed anew, where they still are what was sealed. */
    store: sqlStatement({
      text: `update ${table} r set ${column}_sealed = given.fresh
        from unnest(:ids::uuid[], :parts::integer[], :former::bytea[], :fresh::bytea[]) as given (id, part, former, fresh)
        where r.${rowId} = given.id and ${partOf} = given.part and ${sealed} = given.former
        returning r.${rowId} as id, ${digest === undefined ? `0 as version, '' as digest` : `r.version, ${digest('r')} as digest`}`,
      params: { ids: t.array(t.uuid), parts: t.array(t.integer), former: t.array(t.bytea), fresh: t.array(t.bytea) },
      row: { id: t.uuid, version: t.integer, digest: t.text },
    }),
  };
}
