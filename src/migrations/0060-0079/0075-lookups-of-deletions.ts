import { Migration } from '@mikro-orm/migrations';

/** Deleted secrets are found among the deletions of an environment, and not among all versions that it ever had. */
export class LookupsOfDeletions extends Migration {
  override up(): void {
    this.addSql(
      'create index secret_version_deletion_index on secret_version (environment_id, folder_id) where is_deletion;',
    );
  }
}
