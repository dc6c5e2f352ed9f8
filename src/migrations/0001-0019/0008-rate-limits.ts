import { Migration } from '@mikro-orm/migrations';

/** What the nodes counted for the rate limits. */
export class RateLimitCounts extends Migration {
  override up(): void {
    this.addSql(COUNTS);
  }
}

// Unlogged: a crash of Postgres may forget a minute of counts, and none of them is worth a write to its log.
const COUNTS = `
create unlogged table rate_limit_count (
  -- A MAC of who is limited in what: an address is personal.
  bucket bytea not null check (octet_length(bucket) = 16),
  -- Which part of time, in twelfths of the window since 1970.
  slot bigint not null,
  amount integer not null,
  expires_at timestamptz(3) not null,
  primary key (bucket, slot)
);
create index rate_limit_count_expiry_index on rate_limit_count (expires_at);`;
