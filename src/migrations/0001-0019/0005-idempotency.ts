import { Migration } from '@mikro-orm/migrations';

/** Which requests took effect, and what they were answered, so that a retry has no second effect. */
export class Idempotency extends Migration {
  override up(): void {
    this.addSql(IDEMPOTENCY);
  }
}

const IDEMPOTENCY = `
create table idempotency_key (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  -- Not a foreign key: a request may delete the account of its own token.
  token_id uuid not null,
  key_hash bytea not null check (octet_length(key_hash) = 32),
  -- Keyed: the request may hold a value that could be guessed.
  request_hash bytea not null check (octet_length(request_hash) = 32),
  request_id uuid not null,
  -- Rises when a key is taken over, so that its former owner changes nothing any more.
  fence integer not null default 1,
  claimed_at timestamptz(3) not null default now(),
  -- Set by the transaction that makes the effect.
  effective_at timestamptz(3),
  answered_at timestamptz(3),
  answer_sealed bytea,
  is_withheld boolean not null default false,
  withheld_ids uuid[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  constraint idempotency_key_unique unique (token_id, key_hash)
);
create index idempotency_key_age_index on idempotency_key (created_at);
create index idempotency_key_organization_index on idempotency_key (organization_id);`;
