import { Migration } from '@mikro-orm/migrations';

/** What a channel has sent is shown, newest first. */
export class ChannelHistories extends Migration {
  override up(): void {
    this.addSql(MESSAGES);
  }
}

const MESSAGES = `
create index notification_message_channel_index on notification_message (channel_id, created_at desc, id desc);`;
