import { Migration } from '@mikro-orm/migrations';

/** No configuration has an unlimited life below a maximum any more. */
export class TokenFamilies extends Migration {
  override up(): void {
    this.addSql(FITTING_TTLS);
  }
}

/** 0 is no limit. It was accepted below a maximum, where it now means that maximum. */
const FITTING_TTLS = `
update identity_token_auth set ttl_seconds = max_ttl_seconds where ttl_seconds = 0 and max_ttl_seconds > 0;
update identity_universal_auth set ttl_seconds = max_ttl_seconds where ttl_seconds = 0 and max_ttl_seconds > 0;`;
