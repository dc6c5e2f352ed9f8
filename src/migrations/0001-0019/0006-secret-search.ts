import { Migration } from '@mikro-orm/migrations';

/** Makes searches across projects read secrets in their order: a page costs what it shows, not what there is. */
export class SecretSearch extends Migration {
  override up(): void {
    this.addSql(`
-- In place of the index by project and key: which projects are meant is checked in the index, too.
create index secret_search_index on secret (organization_id, key collate "C", project_id);
drop index secret_name_index;`);
  }
}
