import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { type ScanBounds, withinBounds } from '../scope/scan-bounds.js';
import { tagSlugsOf } from '../scope/subject.records.js';
import type { FoundRow } from './search.records.js';

/** Maximum number of secrets of one group that are examined. */
export const MAX_MEMBERS = 1_000;
/** Maximum number of secrets whose digests are compared in one request. */
export const MAX_DIGESTS = 250_000;

/** A secret whose value others have too. */
export interface MemberRow extends FoundRow {
  /** Index of its group in the request. */
  readonly group: number;
  readonly environmentId: string;
}

/** Which values. */
export interface DuplicateCriteria {
  readonly projectIds: readonly string[];
  /** Those of them where no row has to be examined. */
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

/** Digests by project, in one statement; one more than the limit if there are more. */
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

const MEMBER_ORDER = ['key', 'project_slug', 'environment', 'path'].map((name) => `${name} collate "C"`).join(', ');

/** One digest as stored in a project, and the group that it belongs to. */
export interface GroupDigest {
  readonly group: number;
  readonly projectId: string;
  readonly digest: Buffer;
}

/**
 * Secrets of groups, group by group, in one statement that decrypts nothing; the first thousand of each group at most.
 */
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
  const conditions = narrowing(criteria, next);
  const text = `
    with ranked as (
      select s.*, row_number() over (
        partition by s.place
        -- If not all can be looked at, then those that need no look.
        order by s.project_id = any($4::uuid[]) desc, ${MEMBER_ORDER}
      ) as rank
      from secrets_of_digests($1, $2, $3) s where true ${all(conditions)}
    )
    select place as "group", id, key, project_id as "projectId", project_slug as "projectSlug", environment_id as "environmentId",
      environment, path, case when project_id = any($4::uuid[]) then '[]' else ${tagSlugsOf('ranked.id')} end as tags
    from ranked where rank <= ${MAX_MEMBERS}
    order by place, ${MEMBER_ORDER}`;
  return query<MemberRow>(ctx, text, params);
}
