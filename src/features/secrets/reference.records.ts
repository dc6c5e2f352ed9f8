import type { Context } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { tagSlugsOf } from './subject.records.js';
import type { SecretSubject } from './visibility.rules.js';

/** Values of referenced secrets that one reply takes in together, in bytes. What is beyond stays as it stands. */
const MAX_REFERENCED_BYTES = 64 * 1024 * 1024;

/** A secret as references name it, from anywhere in its project. */
export interface SecretName {
  readonly environment: string;
  readonly path: string;
  readonly key: string;
}

/** A secret that values refer to. */
export interface ReferencedRecord extends SecretSubject {
  readonly id: string;
  readonly projectId: string;
  readonly version: number;
  /** Null when it is too much, with those before it. */
  readonly valueSealed: Uint8Array | null;
}

/** One link at a time, by index: `offset 0` keeps the planner from reading whole tables once for each link of a chain. */
const REACHABLE = `
  with recursive reached as (
    select s.id, s.project_id, s.folder_id
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as given (project_id, environment, path, key)
    join environment e on e.project_id = given.project_id and e.slug = given.environment
    join folder f on f.environment_id = e.id and f.path = given.path
    join secret s on s.folder_id = f.id and s.key = given.key
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
  select s.id, s.project_id as "projectId", e.slug as environment, f.path, s.key, s.version,
    case when sum(octet_length(s.value_sealed)) over (order by s.id) <= ${MAX_REFERENCED_BYTES} then s.value_sealed end as "valueSealed",
    ${tagSlugsOf('s.id')} as tags
  from secret s join folder f on f.id = s.folder_id join environment e on e.id = s.environment_id
  where s.id in (select id from reached)`;

/** These secrets and all that can be reached from them by references, in one statement however many links away. */
export const findReferenced = (
  ctx: Context,
  named: readonly (SecretName & { readonly projectId: string })[],
): Promise<ReferencedRecord[]> =>
  query<ReferencedRecord>(ctx, REACHABLE, [
    named.map(({ projectId }) => projectId),
    named.map(({ environment }) => environment),
    named.map(({ path }) => path),
    named.map(({ key }) => key),
  ]);
