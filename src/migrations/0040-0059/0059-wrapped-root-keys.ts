import { Migration } from '@mikro-orm/migrations';

/** Root keys that are encrypted outside: that of the installation, and the one that it is about to change to. */
export class WrappedRootKeys extends Migration {
  override up(): void {
    this.addSql('alter table installation add column wrapped_root_key text, add column next_wrapped_root_key text;');
  }
}
