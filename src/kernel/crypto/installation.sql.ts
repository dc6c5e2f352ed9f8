// No table: the catalog, and a lock.
import { sqlStatement, t } from '../database/statement.js';

/** Whether the database has the table. */
export const hasInstallationTable = sqlStatement({
  text: `select to_regclass('installation') is not null as "exists"`,
  params: {},
  row: { exists: t.boolean },
});

/** A lock that one change of the root key at a time has until its commit. */
export const lockRootKey = sqlStatement({
  text: 'select pg_advisory_xact_lock(:lock)::text as locked',
  params: { lock: t.bigint },
  row: { locked: t.text },
});
