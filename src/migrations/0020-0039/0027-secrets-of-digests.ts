import { Migration } from '@mikro-orm/migrations';

/** Equal values are found by the index of their digests, whatever the statistics said when the statement was planned. */
export class SecretsOfDigests extends Migration {
  override up(): void {
    for (const statement of [BY_DIGEST, BY_PROJECT, SECRETS_OF_DIGESTS]) this.addSql(statement);
  }
}

/** With the project before the digest, Postgres may prefer any index of projects where it takes these for small. */
const BY_DIGEST = 'create index secret_value_index on secret (value_digest) where value_digest is not null';
/** The names of secrets have one that begins with the project as well. */
const BY_PROJECT = 'drop index secret_project_index';

/**
 * The secrets of a project that have a digest, for each pair of the two. A plan that was made while a table was small reads all of
 * it for each pair, and is kept until the statistics change: thousands of pairs then take seconds. Only a function can have settings
 * of its own, and keeps the planner from that. `offset 0` keeps it to one pair and one secret at a time, `coalesce` to the index of digests.
 */
const SECRETS_OF_DIGESTS = `
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
$$`;
