/** Columns of a row, as SQL. */
interface Columns {
  /** The table, with joins. */
  readonly from: string;
  readonly where: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
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
export const rowsOf = ({ from, where, ...columns }: Columns): string => `
    select ${columns.organizationId} as organization_id, ${columns.projectId}::uuid as project_id, ${columns.id} as id, ${columns.name} as name,
      ${columns.since} as since, ${columns.code ?? 'null'}::text as code, ${columns.type ?? 'null'}::text as type,
      ${columns.ownerId ?? 'null'}::uuid as owner_id, ${columns.fields ?? 'null'}::jsonb as fields
    from ${from} where ${where}`;
