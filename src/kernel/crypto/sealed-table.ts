/**
 * A table with columns that are sealed with the key of the project of each row. The slice that seals them declares it, so that they
 * are sealed anew when the project gets a new key. Names of columns are without their ending `_sealed`, as in the place of a seal.
 */
export interface SealedTable {
  readonly table: string;
  /** Name of the table in the place of a seal, where it is another one. */
  readonly place?: string;
  /** Column with the ID that is in the place. */
  readonly rowId: string;
  /** Integer column, where there are many rows with that ID. */
  readonly part?: string;
  /** By sealed column: the column with the version that is in the place, or the version of all rows. */
  readonly columns: Readonly<Record<string, string | number>>;
  /** SQL for the digest by which the audit trail knows the state of a row. @param row alias of the table in the statement */
  readonly digest?: (row: string) => string;
}
