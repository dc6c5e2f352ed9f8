import type { Context } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { type ScanBounds, withinBounds } from './scan-bounds.js';
import { type FoundRow, SEARCH_ORDER } from './search.records.js';
import { tagSlugsOf } from './subject.records.js';

/** Secrets of one group that are looked at. */
export const MAX_MEMBERS = 1_000;
/** Digests of this many secrets are compared in one request. */
export const MAX_DIGESTS = 250_000;

/** A secret whose value others have too. */
export interface MemberRow extends FoundRow {
  /** Position of its group among those asked for. */
  readonly group: number;
  readonly environmentId: string;
}

/** Which values. */
export interface DuplicateCriteria {
  readonly projectIds: readonly string[];
  /** Those of them where no row has to be looked at. */
  readonly openProjectIds: readonly string[];
  readonly environments: readonly string[];
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
}

/** The digests of a project as they are stored, one after the other. */
export interface ProjectDigests {
  readonly projectId: string;
  readonly digests: Buffer;
}

const inEnvironments = (slugs: string): string =>
  `exists (select from environment e where e.id = s.environment_id and e.slug = any(${slugs}::text[]))`;

/** Conditions on a secret `s`. */
function narrowing({ environments, bounds }: DuplicateCriteria, next: (value: unknown) => string): string[] {
  const conditions = withinBounds(bounds, next);
  if (environments.length > 0) conditions.push(inEnvironments(next(environments)));
  return conditions;
}

const all = (conditions: readonly string[]): string => conditions.map((condition) => `and ${condition}`).join(' ');

/** Digests by project, in one statement; of more secrets than may be compared one more than these. */
export function listDigests(ctx: Context, criteria: DuplicateCriteria): Promise<ProjectDigests[]> {
  const params: unknown[] = [criteria.projectIds];
  const next = (value: unknown): string => `$${params.push(value)}`;
  const text = `
    select project_id as "projectId", string_agg(value_digest, '') as digests from (
      select s.project_id, s.value_digest from secret s
      where s.project_id = any($1::uuid[]) and s.value_digest is not null ${all(narrowing(criteria, next))}
      limit ${MAX_DIGESTS + 1}
    ) found group by project_id`;
  return query<ProjectDigests>(ctx, text, params);
}

/** One digest as a project has it stored, and the group that it belongs to. */
export interface GroupDigest {
  readonly group: number;
  readonly projectId: string;
  readonly digest: Buffer;
}

/** Secrets of groups, group by group, in one statement that opens nothing; of each group the first thousand at most. */
export function listMembers(
  ctx: Context,
  criteria: DuplicateCriteria,
  digests: readonly GroupDigest[],
): Promise<MemberRow[]> {
  const params: unknown[] = [
    digests.map(({ group }) => group),
    digests.map(({ projectId }) => projectId),
    digests.map(({ digest }) => digest),
    criteria.openProjectIds,
  ];
  const next = (value: unknown): string => `$${params.push(value)}`;
  // Found by their digests and nothing else: by its project or folder each would be looked for among all that these hold, which
  // Postgres prefers where it does not know yet how much that is. So the rest are no conditions for an index.
  const rest = ['s.project_id = g.project_id', ...narrowing(criteria, next)].map((test) => `coalesce(${test}, false)`);
  const text = `
    with ranked as (
      select g.place as "group", s.id, s.key, s.project_id as "projectId", p.slug as "projectSlug", e.id as "environmentId", e.slug as environment, f.path,
        row_number() over (
          partition by g.place
          -- If not all can be looked at, then those that need no look.
          order by s.project_id = any($4::uuid[]) desc, ${SEARCH_ORDER.join(', ')}
        ) as rank
      from unnest($1::int[], $2::uuid[], $3::bytea[]) as g (place, project_id, digest)
        join project p on p.id = g.project_id
        join secret s on s.organization_id = p.organization_id and s.value_digest = g.digest ${all(rest)}
        join environment e on e.id = s.environment_id join folder f on f.id = s.folder_id
    )
    select "group", id, key, "projectId", "projectSlug", "environmentId", environment, path,
      case when "projectId" = any($4::uuid[]) then '[]' else ${tagSlugsOf('ranked.id')} end as tags
    from ranked where rank <= ${MAX_MEMBERS}
    order by "group", ${['key', '"projectSlug"', 'environment', 'path'].map((name) => `${name} collate "C"`).join(', ')}`;
  return query<MemberRow>(ctx, text, params);
}
