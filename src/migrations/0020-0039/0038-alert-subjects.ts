import { Migration } from '@mikro-orm/migrations';

/** What alerts compare certificates by; and authorities, of whose expiry they notify as well. */
export class AlertSubjects extends Migration {
  override up(): void {
    for (const statement of [DIGEST, BACKFILL, INDEX, AUTHORITIES]) this.addSql(statement);
  }
}

/** The same for certificates with one common name, one profile and one set of names: comparing the names themselves takes long. */
const DIGEST = `
create function set_certificate_names_digest() returns trigger language plpgsql as $$
begin
  new.names_digest = sha256(convert_to(jsonb_build_array(new.common_name, new.profile_slug,
    array(select distinct san collate "C" from unnest(new.sans) as san order by 1))::text, 'UTF8'));
  return new;
end $$;
alter table certificate add column names_digest bytea;
create trigger certificate_names_digest before insert or update of common_name, profile_slug, sans on certificate
  for each row execute function set_certificate_names_digest();`;

const BACKFILL = `
update certificate set common_name = common_name;
alter table certificate alter column names_digest set not null;`;

const INDEX = `create index certificate_names_index on certificate (project_id, names_digest, not_after) where status = 'active';`;

const AUTHORITIES = `
create trigger certificate_authority_deliveries after delete on certificate_authority
  referencing old table as removed for each statement execute function forget_deliveries();`;
