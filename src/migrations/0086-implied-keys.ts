import { Migration } from '@mikro-orm/migrations';

/** Each secret that is written looks up fewer keys, and is in fewer indexes. */
export class ImpliedKeys extends Migration {
  override up(): void {
    for (const statement of [KEYS, INDEXES]) this.addSql(statement);
  }
}

/**
 * The folder of a secret has its environment, project and organization, and the environment of a version has the other two: these exist
 * for as long as the one does, and are deleted with it. Every row of every write looked up each of them, and locked it.
 */
const KEYS = `
alter table secret drop constraint secret_environment_id_fkey, drop constraint secret_project_id_fkey,
  drop constraint secret_organization_id_fkey;
alter table secret_version drop constraint secret_version_project_id_fkey, drop constraint secret_version_organization_id_fkey;`;

/** Secrets of an environment are found by its folders, and digests by themselves; those of a whole project are read from its rows. */
const INDEXES = 'drop index secret_environment_index, secret_digest_index;';
