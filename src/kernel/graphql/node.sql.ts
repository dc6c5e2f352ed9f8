/** Where nodes of a type are. */
interface NodeTable {
  readonly type: string;
  readonly table: string;
  /** SQL: which rows `n` the caller may reach. */
  readonly reach: string;
}

/** The types of the resources that have some IDs (`$1`), whose tables slices declare. */
export const findNodeTypes = (tables: readonly NodeTable[]): string =>
  tables
    .map(
      ({ type, table, reach }) =>
        `select '${type}' as type, n.id from ${table} n where n.id = any($1::uuid[]) and ${reach}`,
    )
    .join(' union all ');
