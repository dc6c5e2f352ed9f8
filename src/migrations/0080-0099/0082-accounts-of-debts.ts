import { Migration } from '@mikro-orm/migrations';

/** A credential that is still to be revoked belongs to nobody else until then. */
export class AccountsOfDebts extends Migration {
  override up(): void {
    this.addSql(DEBTS);
  }
}

const DEBTS = `
alter table credential_debt add column account_digest bytea;
create index credential_debt_account_index on credential_debt (organization_id, account_digest) where account_digest is not null;`;
