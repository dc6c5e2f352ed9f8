// Many rows from one array of each column.
import type { Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Adds environments of a new project, in this order. */
export const insertEnvironments = sqlStatement({
  text: `insert into environment (organization_id, project_id, id, name, slug, position)
    select :organizationId, :projectId, given.*
    from unnest(:ids::uuid[], :names::text[], :slugs::text[]) with ordinality as given`,
  params: {
    organizationId: t.uuid,
    projectId: t.uuid,
    ids: t.array(t.uuid),
    names: t.array(t.text),
    slugs: t.array(t.text),
  },
  row: {},
});

/** The environments in the form of these parameters. */
export const columnsIn = (
  environments: readonly Readonly<Record<'id' | 'name' | 'slug', string>>[],
): Record<'ids' | 'names' | 'slugs', string[]> => ({
  ids: environments.map(({ id }) => id),
  names: environments.map(({ name }) => name),
  slugs: environments.map(({ slug }) => slug),
});

/** Checks the constraint on imports from another environment now, and not at commit. */
export const checkImports = (tx: Transaction): Promise<unknown> =>
  query(tx, 'set constraints secret_import_source_fk immediate');
