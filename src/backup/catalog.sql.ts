// The catalog.
import { sqlStatement, t } from '../kernel/database/statement.js';

/** Tables whose rows survive a crash, partitioned ones as a whole, with the columns that are stored. */
export const listTables = sqlStatement({
  text: `
    select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns,
      array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::text::regnamespace and c.relkind in ('r', 'p') and c.relpersistence = 'p'
      and not c.relispartition
    group by c.relname order by c.relname`,
  params: {},
  row: { name: t.text, columns: t.array(t.text), types: t.array(t.text) },
});

/** Partitions of tables, and the values that each holds, in SQL. */
export const listPartitions = sqlStatement({
  text: `
    select p.relname::text as parent, c.relname::text as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where c.relispartition and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::text::regnamespace
    order by c.oid`,
  params: {},
  row: { parent: t.text, name: t.text, bound: t.text },
});

/** Sequences that have been used, with their last values. */
export const listSequences = sqlStatement({
  text: `
    select sequencename::text as name, last_value::text as "lastValue"
    from pg_sequences where schemaname = current_schema() and last_value is not null order by sequencename`,
  params: {},
  row: { name: t.text, lastValue: t.text },
});

/** Foreign keys, and the SQL that makes them. */
export const listForeignKeys = sqlStatement({
  text: `
    select c.relname::text as "table", k.conname::text as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and k.conparentid = 0 and k.connamespace = current_schema()::text::regnamespace
    order by c.relname, k.conname`,
  params: {},
  row: { table: t.text, name: t.text, definition: t.text },
});

/** Triggers of ours that run, and how they are enabled. */
export const listTriggers = sqlStatement({
  text: `
    select c.relname::text as "table", g.tgname::text as name, case g.tgenabled when 'A' then 'enable always' else 'enable' end as enabled
    from pg_trigger g join pg_class c on c.oid = g.tgrelid
    where not g.tgisinternal and g.tgenabled in ('O', 'A') and c.relkind in ('r', 'p')
      and c.relnamespace = current_schema()::text::regnamespace
    order by c.relname, g.tgname`,
  params: {},
  row: { table: t.text, name: t.text, enabled: t.oneOf('enable', 'enable always') },
});

/** When the transaction began, what ties the database to its root key, the keys that this wraps, and the head of the audit seals as logged. */
export const findHeader = sqlStatement({
  text: `
    select now() as "createdAt", encode(key_check_value, 'hex') as "keyCheckValue",
      array(select id::text from data_key where project_id is null order by id) as "organizationKeyIds",
      (select number::text || ':' || encode(mac, 'hex') from audit_seal order by number desc limit 1) as "auditHead"
    from installation`,
  params: {},
  row: { createdAt: t.time, keyCheckValue: t.text, organizationKeyIds: t.array(t.text), auditHead: t.nullable(t.text) },
});
