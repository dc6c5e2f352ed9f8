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

/** IDs of the resources of one type with some values (`$1`) of another column that names them. Not every `reach` has all parameters. */
export const findNodeIds = ({ table, reach }: NodeTable, column: string): string =>
  `select n.id, n.${column} as value from ${table} n where n.${column} = any($1::text[])
    and ($2::uuid, $3::uuid, $4::uuid) is not null and ${reach}`;
