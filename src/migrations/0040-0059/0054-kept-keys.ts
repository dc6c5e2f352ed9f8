import { Migration } from '@mikro-orm/migrations';

/** Keys that stay the same when the root key of the installation changes. The service stores them at its next start. */
export class KeptKeysOfInstallation extends Migration {
  override up(): void {
    this.addSql('alter table installation add column kept_keys_sealed bytea;');
  }
}
