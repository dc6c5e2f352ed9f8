import { Migration } from '@mikro-orm/migrations';

/** Searches by the age of values, and by the last change, find a page of each project by an index. */
export class SearchByAge extends Migration {
  override up(): void {
    for (const column of ['value_changed_at', 'updated_at'])
      this.addSql(`create index secret_${column}_index on secret (project_id, ${column}, id);`);
  }
}
