import { Migration } from '@mikro-orm/migrations';

/** Digests of the rules of roles and privileges, by which each node knows those that it has compiled. */
export class RulesDigests extends Migration {
  override up(): void {
    this.addSql(DIGESTS);
  }
}

/** Made by the database, so that no change of rules can leave the old digest beside them. */
const DIGESTS = `
create function rules_digest(rules jsonb) returns text language sql immutable strict parallel safe as $$
  select encode(sha256(convert_to(rules::text, 'UTF8')), 'base64')
$$;
alter table project_role add column permissions_digest text not null generated always as (rules_digest(permissions)) stored;
alter table organization_role add column permissions_digest text not null generated always as (rules_digest(permissions)) stored;
alter table additional_privilege add column permissions_digest text not null generated always as (rules_digest(permissions)) stored;`;
