import type { Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { EnvironmentSchema } from '../core/environment.entity.js';

/** Environments of whatever projects, in no order. The project decides who may see them. */
export const findEnvironments = prepared(({ ids }: { ids: readonly string[] }) =>
  tablesOf<typeof EnvironmentSchema>()
    .selectFrom('environment')
    .select(columnsOf(EnvironmentSchema, 'organizationId'))
    .where('id', '=', anyOf(ids)),
);

/** Checks the constraint on imports from another environment now, and not at commit. */
export const checkImports = (tx: Transaction): Promise<unknown> =>
  query(tx, 'set constraints secret_import_source_fk immediate');
