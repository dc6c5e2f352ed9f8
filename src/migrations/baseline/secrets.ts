/**
 * Vacuumed and analyzed when a fiftieth of the rows has changed. By default that is a fifth: of ten million secrets two million dead rows,
 * and statistics and visibility maps as old.
 */
const GROWING =
  'with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)';

/** Folders, tags, secrets, and what these have: versions, references, imports and reminders. Names have the order of lists: byte by byte. */
export const SECRETS = `
create table folder (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  environment_id uuid not null references environment(id) on delete cascade,
  parent_id uuid references folder(id) on delete cascade,
  name text not null check (char_length(name) between 1 and 255),
  path text collate "C" not null check (path like '/%'),
  description text check (char_length(description) <= 1024),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint folder_path_unique unique (environment_id, path)
);
create index folder_project_index on folder (project_id);
create index folder_parent_index on folder (parent_id, path);

create table tag (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  slug text collate "C" not null check (char_length(slug) between 1 and 64),
  color text not null check (char_length(color) <= 64),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint tag_slug_unique unique (project_id, slug)
);

create table secret (
  id uuid primary key,
  organization_id uuid not null references organization(id),
  project_id uuid not null references project(id) on delete cascade,
  environment_id uuid not null references environment(id) on delete cascade,
  folder_id uuid not null references folder(id) on delete cascade,
  key text collate "C" not null check (char_length(key) between 1 and 255),
  version integer not null default 1,
  value_sealed bytea not null,
  -- By which equal values are found.
  value_digest bytea check (octet_length(value_digest) = 32),
  comment_sealed bytea,
  metadata jsonb not null default '[]',
  metadata_sealed bytea,
  skip_multiline_encoding boolean not null default false,
  reminder_note text check (char_length(reminder_note) <= 1024),
  reminder_repeat_days integer,
  reminder_recipient_ids uuid[] not null default '{}',
  actor_kind text not null,
  actor_id uuid not null,
  -- The rotation that writes its value.
  rotation_id uuid,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Looked at when a statement ends and not row by row: one statement may swap two keys.
  constraint secret_key_unique unique (folder_id, key) deferrable initially immediate
) ${GROWING};
create index secret_environment_index on secret (environment_id);
create index secret_project_rows_index on secret (project_id, id);
-- Searches across projects read secrets in their order: which projects are meant is checked in the index, too.
create index secret_search_index on secret (organization_id, key, project_id);
create index secret_digest_index on secret (project_id, value_digest) where value_digest is not null;
-- With the project before the digest, Postgres may prefer any index of projects where it takes these for small.
create index secret_value_index on secret (value_digest) where value_digest is not null;
create index secret_rotation_index on secret (rotation_id) where rotation_id is not null;

create table secret_tag (
  secret_id uuid not null references secret(id) on delete cascade,
  tag_id uuid not null references tag(id) on delete cascade,
  primary key (secret_id, tag_id)
) ${GROWING};
create index secret_tag_tag_index on secret_tag (tag_id);

-- What a user sees in place of the value of a secret.
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
create index personal_secret_project_index on personal_secret (project_id);

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
  comment_sealed bytea,
  metadata jsonb not null default '[]',
  metadata_sealed bytea,
  skip_multiline_encoding boolean not null default false,
  reminder_note text,
  reminder_repeat_days integer,
  reminder_recipient_ids uuid[] not null default '{}',
  actor_kind text not null,
  actor_id uuid not null,
  tag_ids uuid[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  primary key (secret_id, version),
  constraint secret_version_has_value check (is_deletion or value_sealed is not null)
) ${GROWING};
create index secret_version_place_index on secret_version (environment_id, path text_pattern_ops);
create index secret_version_folder_index on secret_version (folder_id);
create index secret_version_project_rows_index on secret_version (project_id, secret_id, version);
-- Deleted secrets are found among the deletions of an environment, and not among all versions that it ever had.
create index secret_version_deletion_index on secret_version (environment_id, folder_id) where is_deletion;

-- Which secrets a value names, as it names them: without an environment it means the folder of the secret itself.
create table secret_reference (
  secret_id uuid not null references secret(id) on delete cascade,
  environment text,
  path text,
  key text collate "C" not null,
  project_id uuid not null references project(id) on delete cascade,
  constraint secret_reference_whole check ((environment is null) = (path is null)),
  constraint secret_reference_unique unique (secret_id, key, path, environment)
) ${GROWING};
create unique index secret_reference_local_unique on secret_reference (secret_id, key) where environment is null;
create index secret_reference_target_index on secret_reference (project_id, key);

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
create index secret_import_project_index on secret_import (project_id);

create table secret_reminder (
  secret_id uuid primary key references secret(id) on delete cascade,
  organization_id uuid not null references organization(id) on delete cascade,
  due_at timestamptz(3) not null
);
create index secret_reminder_due_index on secret_reminder (due_at, secret_id);
create index secret_reminder_organization_index on secret_reminder (organization_id);

-- A reminder counts from the day on which it was set, at midnight UTC.
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
  for each row when (old.reminder_repeat_days is distinct from new.reminder_repeat_days) execute function set_secret_reminder();

-- The secrets of these names and all that can be reached from them by references, each once, and whether a rotation writes it. A plan that
-- was made while a table was small reads all of it for each link: thousands of links then take minutes. Only a function can have settings
-- of its own, and keeps the planner from that: it is planned for each call, by indexes alone. \`offset 0\` keeps it to one link at a time.
create function referenced_secrets(project_ids uuid[], environments text[], paths text[], keys text[])
returns table (id uuid, project_id uuid, environment text, path text, key text, version integer, value_sealed bytea, is_rotated boolean, tags json)
language sql stable
set plan_cache_mode = 'force_custom_plan' set enable_seqscan = off set enable_mergejoin = off set enable_hashjoin = off as $$
  with recursive reached as (
    select s.id, s.project_id, s.folder_id
    from unnest(project_ids, environments, paths, keys) as given (project_id, environment, path, key)
    cross join lateral (
      select t.id, t.project_id, t.folder_id
      from environment e join folder f on f.environment_id = e.id join secret t on t.folder_id = f.id
      where e.project_id = given.project_id and e.slug = given.environment and f.path = given.path and t.key = given.key offset 0
    ) s
    union
    select target.id, r.project_id, target.folder_id
    from reached r
    cross join lateral (
      -- Without an environment it names a secret of the same folder.
      select sr.key, case when sr.environment is null then r.folder_id else (
          select f.id from environment e join folder f on f.environment_id = e.id
          where e.project_id = r.project_id and e.slug = sr.environment and f.path = sr.path
        ) end as folder_id
      from secret_reference sr where sr.secret_id = r.id offset 0
    ) named
    cross join lateral (
      select t.id, t.folder_id from secret t where t.folder_id = named.folder_id and t.key = named.key offset 0
    ) target
  )
  select s.*
  from reached r
  cross join lateral (
    select s.id, s.project_id, e.slug, f.path, s.key, s.version, s.value_sealed, s.rotation_id is not null,
      (select coalesce(json_agg(json_build_object('slug', t.slug)), '[]')
       from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = s.id)
    from secret s join folder f on f.id = s.folder_id join environment e on e.id = s.environment_id where s.id = r.id offset 0
  ) s
$$;

-- The secrets of a project that have a digest, for each pair of the two. Has settings for the same reason. \`offset 0\` keeps it to one pair
-- and one secret at a time, \`coalesce\` to the index of digests.
create function secrets_of_digests(places integer[], project_ids uuid[], digests bytea[])
returns table (place integer, id uuid, key text, project_id uuid, project_slug text, environment_id uuid, environment text, folder_id uuid, path text)
language sql stable set enable_seqscan = off as $$
  select given.place, s.id, s.key, s.project_id, named.project_slug, s.environment_id, named.environment, s.folder_id, named.path
  from unnest(places, project_ids, digests) as given (place, project_id, digest)
  cross join lateral (
    select s.id, s.key, s.project_id, s.environment_id, s.folder_id from secret s
    where s.value_digest = given.digest and coalesce(s.project_id = given.project_id, false) offset 0
  ) s
  cross join lateral (
    select p.slug as project_slug, e.slug as environment, f.path from project p, environment e, folder f
    where p.id = s.project_id and e.id = s.environment_id and f.id = s.folder_id offset 0
  ) named
$$;

create table secret_reseal (
  project_id uuid primary key references project(id) on delete cascade,
  organization_id uuid not null references organization(id) on delete cascade
);
`;
