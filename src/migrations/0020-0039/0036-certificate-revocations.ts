import { Migration } from '@mikro-orm/migrations';

/** What authorities have revoked, also of certificates that the inventory has no more, and the signed lists of it. */
export class CertificateRevocations extends Migration {
  override up(): void {
    for (const statement of [REVOCATIONS, LISTS, AUTHORITIES]) this.addSql(statement);
  }
}

/**
 * Kept when a certificate is deleted: it is revoked all the same. Whatever revokes a certificate of the inventory writes a row here, and
 * one that comes back into the inventory is revoked as it was.
 */
const REVOCATIONS = `
create table certificate_revocation (
  authority_id uuid not null,
  serial_number text not null,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  revoked_at timestamptz(3) not null,
  reason text not null,
  not_after timestamptz(3) not null,
  -- In a list that was signed.
  is_listed boolean not null default false,
  primary key (authority_id, serial_number),
  constraint certificate_revocation_authority_fk foreign key (authority_id, project_id)
    references certificate_authority (id, project_id) on delete cascade
);
create index certificate_revocation_unlisted_index on certificate_revocation (authority_id) where not is_listed;
create index certificate_revocation_project_index on certificate_revocation (project_id);
create index certificate_revocation_organization_index on certificate_revocation (organization_id);

create function keep_certificate_revocation() returns trigger language plpgsql as $$
begin
  insert into certificate_revocation (authority_id, serial_number, organization_id, project_id, revoked_at, reason, not_after)
    values (new.authority_id, new.serial_number, new.organization_id, new.project_id, new.revoked_at, new.revocation_reason, new.not_after)
    on conflict do nothing;
  return null;
end $$;
create trigger certificate_revocation after insert or update of status on certificate
  for each row when (new.status = 'revoked' and new.authority_id is not null) execute function keep_certificate_revocation();

create function find_certificate_revocation() returns trigger language plpgsql as $$
declare known certificate_revocation;
begin
  select * into known from certificate_revocation where authority_id = new.authority_id and serial_number = new.serial_number;
  if found then
    new.status := 'revoked';
    new.revoked_at := known.revoked_at;
    new.revocation_reason := known.reason;
  end if;
  return new;
end $$;
create trigger certificate_known_revocation before insert on certificate
  for each row when (new.status = 'active' and new.authority_id is not null) execute function find_certificate_revocation();

insert into certificate_revocation (authority_id, serial_number, organization_id, project_id, revoked_at, reason, not_after)
  select authority_id, serial_number, organization_id, project_id, revoked_at, revocation_reason, not_after
    from certificate where status = 'revoked' and authority_id is not null on conflict do nothing;`;

const LISTS = `
create table certificate_revocation_list (
  authority_id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  -- Rises with every list.
  number bigint not null,
  -- DER, and the serial number of the certificate that the authority had when it signed.
  list bytea not null,
  signed_as text not null,
  this_update timestamptz(3) not null,
  next_update timestamptz(3) not null,
  constraint certificate_revocation_list_authority_fk foreign key (authority_id, project_id)
    references certificate_authority (id, project_id) on delete cascade
);
create index certificate_revocation_list_project_index on certificate_revocation_list (project_id);
create index certificate_revocation_list_organization_index on certificate_revocation_list (organization_id);`;

/** Its own certificate can be revoked by the authority above it. */
const AUTHORITIES = `
alter table certificate_authority add column revoked_at timestamptz(3), add column revocation_reason text,
  add constraint certificate_authority_revocation_check check ((revoked_at is null) = (revocation_reason is null)
    and (revoked_at is null or status = 'disabled'));`;
