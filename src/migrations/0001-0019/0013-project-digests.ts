import { Migration } from '@mikro-orm/migrations';

/** Digests of values are encrypted with a key of the project. Those from before are dropped here, and made again by the resealing. */
export class ProjectDigests extends Migration {
  override up(): void {
    this.addSql(DIGESTS);
  }
}

const DIGESTS = `
alter table secret_version drop column value_digest;
alter table secret drop column value_digest;
alter table secret add column value_digest bytea check (octet_length(value_digest) = 32);
create index secret_digest_index on secret (project_id, value_digest) where value_digest is not null;`;
