/** Columns of a row, as SQL. */
interface Columns {
  /** Alias of the table whose rows they are: those that are not given are its own. */
  readonly of: string;
  /** The table, with joins. */
  readonly from: string;
  readonly where: string;
  readonly projectId?: string;
  readonly id?: string;
  readonly name?: string;
  /** Since when it needs a person. */
  readonly since: string;
  /** Code of the last failure. */
  readonly code?: string;
  /** Type of a rotation, or app of a connection: where REST has a path for each. */
  readonly type?: string;
  /** ID that the REST path has before that of the subject. */
  readonly ownerId?: string;
  /** What conditions of rules compare, as jsonb. */
  readonly fields?: string;
}

/** The rows of a source: the one form that all of them have. */
export const rowsOf = ({ of, from, where, ...columns }: Columns): string => `
    select ${of}.organization_id, ${columns.projectId ?? `${of}.project_id`}::uuid as project_id, ${columns.id ?? `${of}.id`} as id,
      ${columns.name ?? `${of}.name`} as name,
      ${columns.since} as since, ${columns.code ?? 'null'}::text as code, ${columns.type ?? 'null'}::text as type,
      ${columns.ownerId ?? 'null'}::uuid as owner_id, ${columns.fields ?? 'null'}::jsonb as fields
    from ${from} where ${where}`;
