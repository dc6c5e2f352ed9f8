import { Migration } from '@mikro-orm/migrations';

/** Secrets whose values a rotation writes, and the keys that are kept for them. */
export class RotatedSecrets extends Migration {
  override up(): void {
    for (const statement of [COLUMN, KEYS, TRIGGERS]) this.addSql(statement);
  }
}

const COLUMN = `
alter table secret add column rotation_id uuid;
create index secret_rotation_index on secret (rotation_id) where rotation_id is not null;`;

/**
 * The folder is not deleted with its keys: a rotation would find no place for its secrets. With the project all of them go in one
 * statement, at whose end this is checked.
 */
const KEYS = `
create table secret_rotation_key (
  rotation_id uuid not null,
  field text not null check (char_length(field) between 1 and 64),
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  folder_id uuid not null,
  key text not null check (char_length(key) between 1 and 255),
  primary key (rotation_id, field),
  constraint secret_rotation_key_unique unique (folder_id, key) deferrable initially immediate,
  constraint secret_rotation_key_folder_id_fkey foreign key (folder_id) references folder(id)
);
create index secret_rotation_key_project_index on secret_rotation_key (project_id);
create index secret_rotation_key_organization_index on secret_rotation_key (organization_id);`;

/** Whoever keeps a key for a rotation holds the folder, as all do who write keys in it: none of them looks before the other is done. */
const TRIGGERS = `
create function refuse_rotated_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform from written w join secret_rotation_key k on k.folder_id = w.folder_id and k.key = w.key
      where k.rotation_id is distinct from w.rotation_id;
  else
    perform from secret_rotation_key k where k.folder_id = new.folder_id and k.key = new.key and k.rotation_id is distinct from new.rotation_id;
  end if;
  if found then
    raise unique_violation using message = 'a rotation keeps the key for a secret of its own', table = 'secret', constraint = 'secret_key_unique';
  end if;
  return null;
end $$;
create trigger secret_rotated_key_of_new after insert on secret referencing new table as written
  for each statement execute function refuse_rotated_key();
create trigger secret_rotated_key_of_changed after update on secret
  for each row when (old.folder_id <> new.folder_id or old.key <> new.key or old.rotation_id is distinct from new.rotation_id)
  execute function refuse_rotated_key();`;
