import { Migration } from '@mikro-orm/migrations';

/**
 * The function that follows references tells of each secret whether a rotation writes it. To look that up beside the function is to
 * leave its rules: a plan from the time when the table was small read all of the table for each secret.
 */
export class RotatedReferences extends Migration {
  override up(): void {
    this.addSql('drop function referenced_secrets(uuid[], text[], text[], text[])');
    this.addSql(REFERENCED);
  }
}

/** `offset 0` keeps the planner to one link at a time, and the settings to indexes, with a plan for each call. */
const REFERENCED = `
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
$$`;
