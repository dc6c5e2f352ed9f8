// The catalog, and the list of migrations, which is no entity.
import { sqlStatement, t } from './statement.js';

/** Of the server: its version, and whether it may lose committed data. */
export const findServerSettings = sqlStatement({
  text: `
    select current_setting('server_version_num') as version, current_setting('fsync') as fsync,
      current_setting('full_page_writes') as "fullPageWrites"`,
  params: {},
  row: { version: t.text, fsync: t.text, fullPageWrites: t.text },
});

/** Whether the database has all of these tables. */
export const hasTables = sqlStatement({
  text: 'select coalesce(bool_and(to_regclass(name) is not null), true) as "haveAll" from unnest(:names::text[]) name',
  params: { names: t.array(t.text) },
  row: { haveAll: t.boolean },
});

/** Names of the migrations that the database has. */
export const listMigrations = sqlStatement({
  text: 'select name::text from schema_migration order by id',
  params: {},
  row: { name: t.text },
});

/** Puts the first migration of this program in the place of the steps that it has in it, where the last of them has run. */
export const nameFormerSteps = sqlStatement({
  text: `
    with last as (update schema_migration set name = :name::text where name = :last returning id)
    delete from schema_migration where id < (select id from last)`,
  params: { last: t.text, name: t.text },
  row: {},
  isOfOwner: true,
});

/** Whether the list has anything, whatever its columns are. */
export const findAnyMigration = sqlStatement({
  text: 'select true as found from schema_migration limit 1',
  params: {},
  row: { found: t.boolean },
});

/** Tables, views and sequences of whatever program, but for those of extensions. */
export const countRelations = sqlStatement({
  text: `
    select count(*)::int as count from pg_class c
    where relnamespace = current_schema()::text::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`,
  params: {},
  row: { count: t.integer },
});

export const DROP_MIGRATION_TABLE = 'drop table if exists schema_migration';
