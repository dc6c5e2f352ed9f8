import type { Context } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { SCAN_LIMIT } from './row-scan.js';
import { type ScanBounds, withinBounds } from './scan-bounds.js';
import { type FoundRow, SEARCH_ORDER } from './search.records.js';
import { tagSlugsOf } from './subject.records.js';

/** Secrets of one group that are looked at. */
const MAX_MEMBERS = 1_000;

/** A secret whose value others have too. */
export interface MemberRow extends FoundRow {
  /** Stands for the value among all groups. Made of its digest in one direction: neither value nor digest can be had from it. */
  readonly position: string;
  /** Secrets of the group in projects where the caller may see all of them. */
  readonly openCount: number;
  /** Groups that there are, up to one more than asked for: also those for which the scan was too short. */
  readonly groupCount: number;
}

/** Which values. */
export interface DuplicateCriteria {
  readonly projectIds: readonly string[];
  /** Those of them where no row has to be looked at. */
  readonly openProjectIds: readonly string[];
  readonly environments: readonly string[];
  readonly minimum: number;
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
}

const inEnvironments = (slugs: string): string =>
  `exists (select from environment e where e.id = s.environment_id and e.slug = any(${slugs}::text[]))`;

const list = (narrowing: string): string => `
  with equal as (
    select s.value_digest, sha256(s.value_digest) as position, count(*) as size,
      count(*) filter (where s.project_id = any($3::uuid[])) as open_count
    from secret s
    where s.organization_id = $1 and s.project_id = any($2::uuid[]) and s.value_digest is not null ${narrowing}
    group by s.value_digest
    having count(*) >= $4 and ($5::text is null or sha256(s.value_digest) > decode($5, 'hex'))
  ), page as (
    select equal.*, sum(least(size, ${MAX_MEMBERS})) over (order by position) as rows_so_far
    from equal order by position limit $6
  )
  select encode(page.position, 'hex') as position, page.open_count::integer as "openCount",
    (select count(*) from page)::integer as "groupCount", member.*
  from page cross join lateral (
    select s.id, s.key, s.project_id as "projectId", p.slug as "projectSlug", e.slug as environment, f.path,
      case when s.project_id = any($3::uuid[]) then '[]' else ${tagSlugsOf('s.id')} end as tags
    from secret s join project p on p.id = s.project_id join environment e on e.id = s.environment_id
      join folder f on f.id = s.folder_id
    where s.organization_id = $1 and s.project_id = any($2::uuid[]) and s.value_digest = page.value_digest ${narrowing}
    -- If not all can be looked at, then those that need no look.
    order by s.project_id = any($3::uuid[]) desc, ${SEARCH_ORDER.join(', ')} limit ${MAX_MEMBERS}
  ) member
  where page.rows_so_far <= ${SCAN_LIMIT}
  order by page.position, ${['key', '"projectSlug"', 'environment', 'path'].map((name) => `member.${name} collate "C"`).join(', ')}`;

/**
 * Secrets of the groups after a position, group by group, in one statement that opens nothing. A group stands whole, but for
 * what is beyond 1,000 secrets of it; groups follow each other in an order that tells nothing of their values.
 *
 * @param bounds `limit`: of groups
 */
export const listDuplicates = (
  ctx: Context,
  { projectIds, openProjectIds, environments, minimum, bounds }: DuplicateCriteria,
  { after, limit }: { after: string | null; limit: number },
): Promise<MemberRow[]> => {
  const params: unknown[] = [ctx.organizationId, projectIds, openProjectIds, minimum, after, limit];
  const next = (value: unknown): string => `$${params.push(value)}`;
  const conditions = withinBounds(bounds, next);
  if (environments.length > 0) conditions.push(inEnvironments(next(environments)));
  return query<MemberRow>(ctx, list(conditions.map((condition) => `and ${condition}`).join(' ')), params);
};
