import { Migration } from '@mikro-orm/migrations';

/**
 * The function that follows references is planned for each call, by indexes alone: a plan that Postgres 18 keeps from the time when tables
 * were small reads an index of all secrets for each of them, and folders of the whole installation.
 */
export class PlansOfReferences extends Migration {
  override up(): void {
    for (const setting of [`plan_cache_mode = 'force_custom_plan'`, 'enable_mergejoin = off', 'enable_hashjoin = off'])
      this.addSql(`alter function referenced_secrets(uuid[], text[], text[], text[]) set ${setting}`);
  }
}
