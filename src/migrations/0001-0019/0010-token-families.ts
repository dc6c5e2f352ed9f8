import { Migration } from '@mikro-orm/migrations';

/** Tokens know which token made them; no configuration has an unlimited life below a maximum any more. */
export class TokenFamilies extends Migration {
  override up(): void {
    this.addSql(MAKERS);
    this.addSql(FITTING_TTLS);
  }
}

const MAKERS = `
-- The token of the same actor by which it was made. What deletes that one deletes it too.
alter table access_token add column maker_id uuid
  constraint access_token_maker_fk references access_token(id) on delete cascade;
create index access_token_maker_index on access_token (maker_id) where maker_id is not null;`;

/** 0 is no limit. It was accepted below a maximum, where it now means that maximum. */
const FITTING_TTLS = `
update identity_token_auth set ttl_seconds = max_ttl_seconds where ttl_seconds = 0 and max_ttl_seconds > 0;
update identity_universal_auth set ttl_seconds = max_ttl_seconds where ttl_seconds = 0 and max_ttl_seconds > 0;`;
