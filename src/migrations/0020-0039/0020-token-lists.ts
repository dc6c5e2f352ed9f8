import { Migration } from '@mikro-orm/migrations';

/** The tokens of an organization are listed in the order of those of an identity. */
export class TokenLists extends Migration {
  override up(): void {
    this.addSql(IN_ORDER);
  }
}

/** In place of the one that only found them. Columns that each use of a token writes are in no index: it would be written, too. */
const IN_ORDER = `
drop index access_token_organization_index;
create index access_token_organization_index on access_token (organization_id, updated_at desc, id);`;
