import { Migration } from '@mikro-orm/migrations';

/** When secrets are reminded of, and what is looked for each day. */
export class Reminders extends Migration {
  override up(): void {
    for (const statement of [REMINDERS, TRIGGERS, EXPIRING]) this.addSql(statement);
  }
}

const REMINDERS = `
create table secret_reminder (
  secret_id uuid primary key references secret(id) on delete cascade,
  organization_id uuid not null references organization(id) on delete cascade,
  due_at timestamptz(3) not null
);
create index secret_reminder_due_index on secret_reminder (due_at, secret_id);
create index secret_reminder_organization_index on secret_reminder (organization_id);
insert into secret_reminder (secret_id, organization_id, due_at)
  select id, organization_id, (date_trunc('day', updated_at at time zone 'UTC') + make_interval(days => reminder_repeat_days)) at time zone 'UTC'
  from secret where reminder_repeat_days is not null;`;

/** A reminder counts from the day on which it was set, at midnight UTC. */
const TRIGGERS = `
create function set_secret_reminder() returns trigger language plpgsql as $$
begin
  if new.reminder_repeat_days is null then
    delete from secret_reminder where secret_id = new.id;
  else
    insert into secret_reminder (secret_id, organization_id, due_at)
    values (new.id, new.organization_id, (date_trunc('day', now() at time zone 'UTC') + make_interval(days => new.reminder_repeat_days)) at time zone 'UTC')
    on conflict (secret_id) do update set due_at = excluded.due_at;
  end if;
  return null;
end $$;
create trigger secret_reminder_of_new after insert on secret
  for each row when (new.reminder_repeat_days is not null) execute function set_secret_reminder();
create trigger secret_reminder_of_changed after update of reminder_repeat_days on secret
  for each row when (old.reminder_repeat_days is distinct from new.reminder_repeat_days) execute function set_secret_reminder();`;

/** Tokens that people made, and client secrets, in the order in which they expire. */
const EXPIRING = `
create index access_token_expiring_index on access_token (expires_at, id)
  where auth_method = 'token-auth' and identity_id is not null and not is_revoked;
create index universal_auth_client_secret_expiring_index on universal_auth_client_secret (expires_at, id) where not is_revoked;`;
