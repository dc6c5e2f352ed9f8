import { Migration } from '@mikro-orm/migrations';

/** Machine identities can be protected against deletion. */
export class ProtectedIdentities extends Migration {
  override up(): void {
    this.addSql('alter table identity add column has_delete_protection boolean not null default false;');
  }
}
