import { Migration } from '@mikro-orm/migrations';

/**
 * Tables that grow with the secrets are vacuumed and analyzed when a fiftieth of their rows has changed. By default that is a fifth: of ten
 * million secrets two million dead rows, and statistics and visibility maps as old.
 */
export class VacuumOfSecrets extends Migration {
  override up(): void {
    for (const table of GROWING) this.addSql(`alter table ${table} set (${SETTINGS})`);
  }
}

const GROWING = ['secret', 'secret_version', 'secret_tag', 'secret_reference'];

const SETTINGS = ['vacuum', 'vacuum_insert', 'analyze']
  .map((kind) => `autovacuum_${kind}_scale_factor = 0.02`)
  .join(', ');
