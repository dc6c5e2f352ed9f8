import { Migration } from '@mikro-orm/migrations';

/** What certificates authorities had before they were renewed, and which authority follows which. */
export class CertificateAuthorityLife extends Migration {
  override up(): void {
    for (const statement of [HISTORY, SUCCESSORS]) this.addSql(statement);
  }
}

/** Of the same key. They are good until they expire: whoever issued them answers for them. */
const HISTORY = `
create table certificate_authority_history (
  id uuid primary key,
  organization_id uuid not null references organization(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  authority_id uuid not null,
  -- The authority of the project that signed it.
  parent_id uuid,
  -- PEM. The chain is of its issuers, from the next one up.
  certificate text not null,
  chain text not null,
  serial_number text not null,
  not_before timestamptz(3) not null,
  not_after timestamptz(3) not null,
  replaced_at timestamptz(3) not null default now(),
  constraint certificate_authority_history_authority_fk foreign key (authority_id, project_id)
    references certificate_authority (id, project_id) on delete cascade
);
create index certificate_authority_history_index on certificate_authority_history (authority_id, replaced_at desc, id);
create index certificate_authority_history_serial_index on certificate_authority_history (parent_id, serial_number);
create index certificate_authority_history_project_index on certificate_authority_history (project_id);
create index certificate_authority_history_organization_index on certificate_authority_history (organization_id);`;

const SUCCESSORS = `
alter table certificate_authority add column predecessor_id uuid,
  add constraint certificate_authority_predecessor_fk foreign key (predecessor_id, project_id)
    references certificate_authority (id, project_id) on delete set null (predecessor_id),
  add constraint certificate_authority_predecessor_unique unique (predecessor_id);`;
