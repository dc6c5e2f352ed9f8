import { Migration } from '@mikro-orm/migrations';

/**
 * An account in an external system has one rotation of an organization at most. Rotations and connections that exist learn theirs when they
 * are next used.
 */
export class AccountOwners extends Migration {
  override up(): void {
    this.addSql(OWNERS);
  }
}

const OWNERS = `
alter table secret_rotation add column account_digest bytea;
alter table secret_rotation add constraint secret_rotation_account_unique unique (organization_id, account_digest);
alter table secret_rotation_credential add column account_digest bytea;
create index secret_rotation_credential_account_index on secret_rotation_credential (organization_id, account_digest)
  where account_digest is not null;
alter table app_connection add column account_digest bytea;
create index app_connection_account_index on app_connection (organization_id, account_digest) where account_digest is not null;`;
