import { Migration } from '@mikro-orm/migrations';

/** Organizations may say at which domains people get mails. */
export class EmailDomains extends Migration {
  override up(): void {
    this.addSql(DOMAINS);
  }
}

/** Empty: those of the root organization; of a root organization, any. */
const DOMAINS = `
alter table organization add column allowed_email_domains text[] not null default '{}'
  constraint organization_allowed_email_domains_check check (cardinality(allowed_email_domains) <= 50);`;
