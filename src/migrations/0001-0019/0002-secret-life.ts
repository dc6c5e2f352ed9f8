import { Migration } from '@mikro-orm/migrations';

/** What secrets need in their life: history, references, imports, personal overrides, digests, and a revision of their project. */
export class SecretLife extends Migration {
  override up(): void {
    for (const statements of [REVISION, SECRETS, PERSONAL, VERSIONS, REFERENCES, IMPORTS]) this.addSql(statements);
  }
}

const REVISION = `
-- Rises with every recorded change of the project, in the transaction of the change.
alter table project add column revision bigint not null default 1;`;

const SECRETS = `
alter table secret
  add column value_digest bytea check (octet_length(value_digest) = 32),
  add column reminder_recipient_ids uuid[] not null default '{}';
-- Looked at when a statement ends and not row by row: one statement may swap two keys.
alter table secret drop constraint secret_key_unique;
alter table secret add constraint secret_key_unique unique (folder_id, key) deferrable initially immediate;
create index secret_digest_index on secret (organization_id, value_digest) where value_digest is not null;
create index secret_name_index on secret (project_id, key collate "C");`;

const PERSONAL = `
create table personal_secret (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  secret_id uuid not null,
  user_id uuid not null references app_user(id) on delete cascade,
  version integer not null default 1,
  value_sealed bytea not null,
  comment_sealed bytea,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint personal_secret_shared_fk foreign key (secret_id) references secret(id) on delete cascade,
  constraint personal_secret_owner_unique unique (secret_id, user_id)
);
create index personal_secret_user_index on personal_secret (user_id);
create index personal_secret_project_index on personal_secret (project_id);`;

const VERSIONS = `
-- What each write left behind. A row outlives its secret and its folder, so that both can be restored; it goes with the
-- environment. The sealed columns are those of the secret: they open for (secret, secret_id, version).
create table secret_version (
  secret_id uuid not null,
  version integer not null,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  environment_id uuid not null references environment(id) on delete cascade,
  folder_id uuid not null,
  path text not null,
  key text not null,
  is_deletion boolean not null default false,
  value_sealed bytea,
  value_digest bytea,
  comment_sealed bytea,
  metadata jsonb not null default '[]',
  metadata_sealed bytea,
  skip_multiline_encoding boolean not null default false,
  reminder_note text,
  reminder_repeat_days integer,
  reminder_recipient_ids uuid[] not null default '{}',
  tag_ids uuid[] not null default '{}',
  actor_kind text not null,
  actor_id uuid not null,
  created_at timestamptz(3) not null default now(),
  primary key (secret_id, version),
  constraint secret_version_has_value check (is_deletion or value_sealed is not null)
);
create index secret_version_place_index on secret_version (environment_id, path text_pattern_ops);
create index secret_version_folder_index on secret_version (folder_id);
create index secret_version_project_index on secret_version (project_id);

-- The secrets of before have a history from now on.
insert into secret_version (secret_id, version, organization_id, project_id, environment_id, folder_id, path, key, value_sealed,
    comment_sealed, metadata, metadata_sealed, skip_multiline_encoding, reminder_note, reminder_repeat_days, tag_ids,
    actor_kind, actor_id, created_at)
  select s.id, s.version, s.organization_id, s.project_id, s.environment_id, s.folder_id, f.path, s.key, s.value_sealed,
    s.comment_sealed, s.metadata, s.metadata_sealed, s.skip_multiline_encoding, s.reminder_note, s.reminder_repeat_days,
    array(select st.tag_id from secret_tag st where st.secret_id = s.id order by st.tag_id), s.actor_kind, s.actor_id, s.updated_at
  from secret s join folder f on f.id = s.folder_id;`;

const REFERENCES = `
-- Which secrets a value names, as it names them: without an environment it means the folder of the secret itself.
create table secret_reference (
  secret_id uuid not null references secret(id) on delete cascade,
  project_id uuid not null references project(id) on delete cascade,
  environment text,
  path text,
  key text not null,
  constraint secret_reference_whole check ((environment is null) = (path is null)),
  constraint secret_reference_unique unique (secret_id, key, path, environment)
);
create unique index secret_reference_local_unique on secret_reference (secret_id, key) where environment is null;
create index secret_reference_target_index on secret_reference (project_id, key);`;

const IMPORTS = `
create table secret_import (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  folder_id uuid not null references folder(id) on delete cascade,
  source_folder_id uuid not null,
  position integer not null check (position >= 1),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint secret_import_not_itself check (folder_id <> source_folder_id),
  constraint secret_import_source_unique unique (folder_id, source_folder_id),
  constraint secret_import_position_unique unique (folder_id, position) deferrable initially deferred,
  -- Deferred, because a deletion may take the importing folder as well: who deletes folders asks for it at once.
  constraint secret_import_source_fk foreign key (source_folder_id) references folder(id) deferrable initially deferred
);
create index secret_import_source_index on secret_import (source_folder_id);
create index secret_import_project_index on secret_import (project_id);`;
