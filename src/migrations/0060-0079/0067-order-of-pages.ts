import { Migration } from '@mikro-orm/migrations';

/**
 * Paths of folders and slugs of tags are compared byte by byte, as keys of secrets: indexes have them in the order of lists, so that a page
 * reads no more of a long list than of a short one.
 */
export class OrderOfPages extends Migration {
  override up(): void {
    for (const statement of ORDER) this.addSql(statement);
  }
}

const ORDER = [
  'alter table folder alter column path type text collate "C"',
  'alter table tag alter column slug type text collate "C"',
  'drop index folder_parent_index',
  'create index folder_parent_index on folder (parent_id, path)',
];
