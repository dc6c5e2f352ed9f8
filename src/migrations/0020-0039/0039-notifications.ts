import { Migration } from '@mikro-orm/migrations';

/** The ledger of what alerts send becomes that of everything that notifies. */
export class Notifications extends Migration {
  override up(): void {
    for (const statement of [MESSAGES, DELIVERIES, REMOVED]) this.addSql(statement);
  }
}

const MESSAGES = `
alter table alert_message rename to notification_message;
alter table notification_message rename column alert_id to owner_id;
alter table notification_message drop constraint alert_message_alert_id_fkey;
alter table notification_message drop constraint alert_message_event_check;
alter table notification_message alter column project_id drop not null;
-- Which slice knows the channel and what to say.
alter table notification_message add column source text not null default 'certificate-alert';
alter table notification_message alter column source drop default;
alter table notification_message add constraint notification_message_event_check
  check (source <> 'certificate-alert' or event in ('expiration', 'renewal', 'issuance', 'revocation'));
alter index alert_message_pkey rename to notification_message_pkey;
alter index alert_message_next_index rename to notification_message_next_index;
alter index alert_message_alert_index rename to notification_message_owner_index;
alter index alert_message_project_index rename to notification_message_project_index;
alter index alert_message_organization_index rename to notification_message_organization_index;`;

const DELIVERIES = `
alter table alert_delivery rename to notification_delivery;
alter table notification_delivery rename column alert_id to owner_id;
alter table notification_delivery rename column certificate_id to subject_id;
alter table notification_delivery drop constraint alert_delivery_certificate_id_fkey;
alter table notification_delivery rename constraint alert_delivery_key to notification_delivery_key;
alter index alert_delivery_pkey rename to notification_delivery_pkey;
alter index alert_delivery_certificate_index rename to notification_delivery_subject_index;`;

/** In place of foreign keys, since owners and subjects are of many tables. */
const REMOVED = `
create function forget_messages() returns trigger language plpgsql as $$
begin
  delete from notification_message where owner_id in (select id from removed);
  return null;
end $$;
create function forget_deliveries() returns trigger language plpgsql as $$
begin
  delete from notification_delivery where subject_id in (select id from removed);
  return null;
end $$;
create trigger certificate_alert_messages after delete on certificate_alert
  referencing old table as removed for each statement execute function forget_messages();
create trigger certificate_deliveries after delete on certificate
  referencing old table as removed for each statement execute function forget_deliveries();`;
