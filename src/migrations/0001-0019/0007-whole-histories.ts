import { Migration } from '@mikro-orm/migrations';

/**
 * Histories end with what a secret is, or with its deletion. Where an environment was deleted that a secret had been moved to,
 * versions of before were left; where the secret was last, and who could see it there, is not known any more.
 */
export class WholeHistories extends Migration {
  override up(): void {
    this.addSql(`
delete from secret_version v
using secret_version n
where n.secret_id = v.secret_id and not n.is_deletion
  and not exists (select from secret_version later where later.secret_id = n.secret_id and later.version > n.version)
  and not exists (select from secret s where s.id = n.secret_id);`);
  }
}
