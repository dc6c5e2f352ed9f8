// Roles, rights and policies, and what the catalog has of them.
import pg from 'pg';
import { sqlStatement, t } from './statement.js';

/** The database, and whether its owner can create roles. */
export const findOwner = sqlStatement({
  text: `
    select current_database()::text as database, rolsuper or rolcreaterole as "canCreateRoles"
    from pg_roles where rolname = current_user`,
  params: {},
  row: { database: t.text, canCreateRoles: t.boolean },
});

/** A role of the server: whether the owner can become it, and whether it can do all that the owner can. */
export const findRole = sqlStatement({
  text: `
    select pg_has_role(oid, case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end) as "canBecome",
      rolsuper or rolbypassrls or pg_has_role(oid, (select relowner from pg_class where oid = 'schema_migration'::regclass), 'MEMBER')
        as "isPowerful"
    from pg_roles where rolname = :role::text`,
  params: { role: t.text },
  row: { canBecome: t.boolean, isPowerful: t.boolean },
});

/**
 * Relations, and what a role may do with them, as a statement names it, in lower case: `select`, `update (id)`. Partitions are left
 * out: their rows are reached by their table alone.
 */
export const listRelations = sqlStatement({
  text: `
    with service as (select oid from pg_roles where rolname = :role::text)
    select c.relname::text as name, c.relkind::text as kind, array(
      select lower(a.privilege_type) from aclexplode(c.relacl) a, service where a.grantee = service.oid
      union all
      select format('%s (%I)', lower(a.privilege_type), t.attname)
        from pg_attribute t, aclexplode(t.attacl) a, service where t.attrelid = c.oid and a.grantee = service.oid
    ) as held
    from pg_class c
    where c.relnamespace = current_schema()::text::regnamespace and c.relkind in ('r', 'p', 'v', 'S') and not c.relispartition
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by c.relname`,
  params: { role: t.text },
  row: { name: t.text, kind: t.text, held: t.array(t.text) },
});

/** The schema, and whether a role can use it. */
export const findSchema = sqlStatement({
  text: `select current_schema()::text as name, has_schema_privilege(:role::text, current_schema(), 'usage') as "isUsable"`,
  params: { role: t.text },
  row: { name: t.text, isUsable: t.boolean },
});

/** Those of some functions, as `name(type)`, that a role cannot run. */
export const listMissingFunctions = sqlStatement({
  text: `select name from unnest(:functions::text[]) as name where not has_function_privilege(:role::text, name, 'execute')`,
  params: { functions: t.array(t.text), role: t.text },
  row: { name: t.text },
});

/** Tables whose policies are in effect, or are not. */
export const listTablesByRowSecurity = sqlStatement({
  text: `
    select c.relname::text as name from pg_class c
    where c.relnamespace = current_schema()::text::regnamespace and c.relrowsecurity = :isOn
      and exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'strongroom_organization')`,
  params: { isOn: t.boolean },
  row: { name: t.text },
});

/** Who a connection is, and whether it can read the tables of the service. */
export const findSession = sqlStatement({
  text: `
    select current_user::text as role, has_table_privilege(to_regclass('schema_migration'), 'select') as "canRead"`,
  params: {},
  row: { role: t.text, canRead: t.nullable(t.boolean) },
});

const quoted = (name: string): string => pg.escapeIdentifier(name);

export const createRole = (role: string): string => `create role ${quoted(role)} nologin`;
export const joinRole = (role: string): string => `grant ${quoted(role)} to current_user`;

/** @param on a relation, schema or function, as `nameOfRelation` and the like make it */
export const grant = (rights: readonly string[], on: string, role: string): string =>
  `grant ${rights.join(', ')} on ${on} to ${quoted(role)}`;
export const revoke = (rights: readonly string[], on: string, role: string): string =>
  `revoke ${rights.join(', ')} on ${on} from ${quoted(role)}`;

/** @param kind as the catalog has it */
export const nameOfRelation = (name: string, kind: string): string =>
  `${kind === 'S' ? 'sequence ' : ''}${quoted(name)}`;
export const nameOfSchema = (name: string): string => `schema ${quoted(name)}`;
export const nameOfFunction = (signature: string): string => `function ${signature}`;

/** Puts the policies of a table into effect, or out of it. */
export const setTableRowSecurity = (table: string, isOn: boolean): string =>
  `alter table ${quoted(table)} ${isOn ? 'enable' : 'disable'} row level security`;
