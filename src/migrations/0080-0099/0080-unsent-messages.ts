import { Migration } from '@mikro-orm/migrations';

/** Messages that were not accepted are found again. */
export class UnsentMessages extends Migration {
  override up(): void {
    for (const statement of [FOUND, INDEXES]) this.addSql(statement);
  }
}

const FOUND = `
-- When a check last found what it is about, or somebody last retried it.
alter table notification_message add column found_at timestamptz(3);
update notification_message set found_at = created_at;
alter table notification_message alter column found_at set default now(), alter column found_at set not null;`;

const INDEXES = `
create index notification_message_found_index on notification_message (owner_id, found_at desc);
create index notification_message_owner_unsent_index on notification_message (owner_id, created_at) where state <> 'sent';`;
