import { Migration } from '@mikro-orm/migrations';

/** Alerts that notify of a certificate every day until it is dealt with, and what came of the last test of a channel. */
export class AlertReminders extends Migration {
  override up(): void {
    this.addSql(`
alter table certificate_alert add column is_daily_reminder boolean not null default false;
alter table certificate_alert add constraint certificate_alert_reminder_check check (not is_daily_reminder or event_type = 'expiration');
alter table certificate_alert_channel add column tested_at timestamptz(3), add column test_error_code text;`);
  }
}
