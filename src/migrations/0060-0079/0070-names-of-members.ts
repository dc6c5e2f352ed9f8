import { Migration } from '@mikro-orm/migrations';

/**
 * Memberships have the name of their member beside them, and lists of members an index for each of their orders: a page reads no more of a
 * long list than of a short one. A rename is no change of a membership: it leaves `updated_at` and the history as they are.
 */
export class NamesOfMembers extends Migration {
  override up(): void {
    // Renames wait from here on, those of before are read below.
    for (const statement of [...RENAMES, ...COLUMNS, ...HISTORY, BACKFILL, ...INDEXES]) this.addSql(statement);
  }
}

const TABLES = ['organization_membership', 'group_member', 'project_membership'];

/** Where members are, their names, the columns that refer to them, and which memberships have their names. */
const MEMBERS = [
  { table: 'app_user', name: 'username', column: 'user_id', memberships: TABLES },
  { table: 'identity', name: 'name', column: 'identity_id', memberships: TABLES },
  { table: 'member_group', name: 'name', column: 'group_id', memberships: ['project_membership'] },
];

const RENAMES = MEMBERS.flatMap(({ table, name, column, memberships }) => [
  `create function rename_memberships_of_${table}() returns trigger language plpgsql as $$
begin
${memberships.map((it) => `  update ${it} set name = new.${name} where ${column} = new.id and name <> '';`).join('\n')}
  return null;
end $$`,
  `create trigger ${table}_renamed after update of ${name} on ${table}
    for each row when (old.${name} <> new.${name}) execute function rename_memberships_of_${table}()`,
]);

/**
 * Organizations list neither groups as members nor identities that a project owns: those memberships have no name there. The row that the
 * name is of stays locked, so that a rename comes before or sees the membership. Where it is missing, a foreign key says so.
 */
const NAME_OF_NEW = `
create function set_name_of_member() returns trigger language plpgsql as $$
begin
  if new.user_id is not null then
    select username into new.name from app_user where id = new.user_id for share;
  elsif new.identity_id is not null then
    select name into new.name from identity
      where id = new.identity_id and (tg_table_name <> 'organization_membership' or project_id is null) for share;
  elsif tg_table_name = 'project_membership' then
    select name into new.name from member_group where id = new.group_id for share;
  end if;
  new.name = coalesce(new.name, '');
  return new;
end $$`;

const COLUMNS = [
  NAME_OF_NEW,
  ...TABLES.flatMap((table) => [
    `alter table ${table} add column name text collate "C" not null default ''`,
    `create trigger ${table}_name before insert on ${table} for each row execute function set_name_of_member()`,
  ]),
];

/** The history is of who held what. */
const HISTORY = [
  `create or replace function keep_access_history() returns trigger language plpgsql as $$
declare
  content jsonb = to_jsonb(new);
begin
  if tg_op <> 'INSERT' then
    update access_history set valid_to = now() where source = tg_table_name and row_id = old.id and valid_to is null;
  end if;
  if tg_op <> 'DELETE' then
    if tg_table_name in (${TABLES.map((table) => `'${table}'`).join(', ')}) then
      content = content - 'name';
    end if;
    insert into access_history (organization_id, project_id, source, row_id, content, valid_from)
    values (new.organization_id, (content ->> 'project_id')::uuid, tg_table_name, new.id, content, now());
  end if;
  return null;
end $$`,
  ...TABLES.flatMap((table) => [
    `drop trigger ${table}_history on ${table}`,
    `create trigger ${table}_history after insert or delete on ${table} for each row execute function keep_access_history()`,
    `create trigger ${table}_change_history after update on ${table}
      for each row when (old.name = new.name) execute function keep_access_history()`,
  ]),
];

const BACKFILL = `
update organization_membership m set name = u.username from app_user u where u.id = m.user_id;
update organization_membership m set name = i.name from identity i where i.id = m.identity_id and i.project_id is null;
update group_member m set name = coalesce(
  (select username from app_user where id = m.user_id), (select name from identity where id = m.identity_id));
update project_membership m set name = coalesce(
  (select username from app_user where id = m.user_id), (select name from identity where id = m.identity_id),
  (select name from member_group where id = m.group_id));`;

const KIND = `case when user_id is not null then 'user' when identity_id is not null then 'identity' else 'group' end`;
const ORDERS = ['name', 'created_at', 'updated_at'];

/** In lists of some kinds of members others are not read. */
const INDEXES = [
  ...ORDERS.map(
    (order) =>
      `create index project_membership_${order}_index on project_membership (project_id, (${KIND}), ${order}, id)`,
  ),
  ...ORDERS.map(
    (order) =>
      `create index organization_membership_${order}_index on organization_membership (organization_id, ${order}, id) where name <> ''`,
  ),
  `create index group_member_name_index
    on group_member (group_id, (case when user_id is null then 'identity' else 'user' end), name, id)`,
];
