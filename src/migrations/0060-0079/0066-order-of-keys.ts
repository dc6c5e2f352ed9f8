import { Migration } from '@mikro-orm/migrations';

/**
 * Keys of secrets are compared byte by byte, as lists are ordered: the index that keeps them unique in a folder has their order too, so that
 * a page of a large folder reads no more than a page of a small one.
 */
export class OrderOfKeys extends Migration {
  override up(): void {
    for (const statement of ORDER) this.addSql(statement);
  }
}

/** A trigger that looks at the column is made anew. */
const ORDER = [
  'drop trigger secret_rotated_key_of_changed on secret',
  'alter table secret alter column key type text collate "C"',
  // Compared with it: an index of another collation would not be used.
  'alter table secret_reference alter column key type text collate "C"',
  'alter table secret_rotation_key alter column key type text collate "C"',
  `create trigger secret_rotated_key_of_changed after update on secret
    for each row when (old.folder_id <> new.folder_id or old.key <> new.key or old.rotation_id is distinct from new.rotation_id)
    execute function refuse_rotated_key()`,
];
