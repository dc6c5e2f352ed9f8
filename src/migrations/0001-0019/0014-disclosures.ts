import { Migration } from '@mikro-orm/migrations';

/** Records of the audit trail name the secrets whose values a response held. */
export class Disclosures extends Migration {
  override up(): void {
    this.addSql(DISCLOSURES);
  }
}

/**
 * The same responses are sent again and again, so each list of secrets is stored once and named by its digest. Who read a secret
 * is found by its id in `disclosed`, and by the digests of the lists that hold it.
 */
const DISCLOSURES = `
create table audit_disclosure (
  -- SHA-256 of the ids, 16 bytes each, in their order.
  digest bytea primary key check (octet_length(digest) = 32),
  ids uuid[] not null check (cardinality(ids) > 1)
);
-- Random ids do not compress.
alter table audit_disclosure alter column ids set storage external;
create trigger audit_disclosure_append_only before update or delete or truncate on audit_disclosure
  for each statement execute function refuse_audit_change();
alter table audit_disclosure enable always trigger audit_disclosure_append_only;
-- 16 bytes: the secret. 32 bytes: a digest of audit_disclosure. Null: no value was in the response.
alter table audit_record add column disclosed bytea check (octet_length(disclosed) in (16, 32));`;
