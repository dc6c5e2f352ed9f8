import { Migration } from '@mikro-orm/migrations';

/** What alerts have to send, have sent, and could not send. */
export class AlertDeliveries extends Migration {
  override up(): void {
    for (const statement of [MESSAGES, DELIVERIES]) this.addSql(statement);
  }
}

/** What is sent at once, and fixed before: to one recipient of one channel, about one certificate or many. */
const MESSAGES = `
create table alert_message (
  -- Receivers know it by this: the id of an event, the dedup key of an incident, the Message-ID of a mail.
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  alert_id uuid not null references certificate_alert(id) on delete cascade,
  -- A channel that was removed leaves its messages behind, for the history.
  channel_id uuid not null,
  channel_type text not null,
  -- A digest of the address; empty where the channel has no more than one.
  recipient bytea not null,
  event text not null check (event in ('expiration', 'renewal', 'issuance', 'revocation')),
  state text not null default 'pending' check (state in ('pending', 'sent', 'failed', 'cancelled')),
  attempts integer not null default 0,
  next_at timestamptz(3),
  give_up_at timestamptz(3) not null,
  error_code text,
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  check ((next_at is not null) = (state = 'pending')),
  check ((ended_at is null) = (state = 'pending'))
);
create index alert_message_next_index on alert_message (channel_id, next_at, id) where next_at is not null;
create index alert_message_alert_index on alert_message (alert_id, created_at desc, id desc);
create index alert_message_project_index on alert_message (project_id, created_at desc, id desc);
create index alert_message_organization_index on alert_message (organization_id);`;

/** The ledger: each key once, whoever writes it and however often. Written before anything is sent. */
const DELIVERIES = `
create table alert_delivery (
  message_id uuid not null references alert_message(id) on delete cascade,
  certificate_id uuid not null references certificate(id) on delete cascade,
  alert_id uuid not null,
  channel_id uuid not null,
  recipient bytea not null,
  event text not null,
  -- The day of a daily reminder; else empty.
  occurrence text not null default '',
  primary key (message_id, certificate_id),
  constraint alert_delivery_key unique (alert_id, certificate_id, event, channel_id, recipient, occurrence)
);
create index alert_delivery_certificate_index on alert_delivery (certificate_id);`;
