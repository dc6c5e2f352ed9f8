import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { filterConditions, type SecretFilters } from '../core/secret.records.js';
import type { PlacedSubject } from '../core/secret-reach.js';
import type { TextMatch } from '../scope/glob.rules.js';
import { type ScanBounds, withinBounds } from '../scope/scan-bounds.js';
import { tagSlugsOf } from '../scope/subject.records.js';

/** Search criteria. Null and empty lists do not narrow. */
export interface SearchCriteria extends SecretFilters {
  readonly key: TextMatch | null;
  /** A pattern of LIKE. */
  readonly path: string | null;
  readonly environments: readonly string[];
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
}

/** The attributes of a secret that decide whether the caller may see it, and its position in the order. */
export interface FoundRow extends PlacedSubject {
  readonly id: string;
  readonly projectSlug: string;
}

/** The order of secrets of many projects. No two have the same position. */
export const SEARCH_ORDER = ['s.key', 'p.slug', 'e.slug', 'f.path'].map((column) => `${column} collate "C"`);

/** Position of a secret in that order. */
export const searchKeyOf = ({ key, projectSlug, environment, path }: FoundRow): CursorKey => [
  key,
  projectSlug,
  environment,
  path,
];

const SELECT = `
  select s.id, s.key, s.project_id as "projectId", p.slug as "projectSlug", e.slug as environment, f.path,
    ${tagSlugsOf('s.id')} as tags
  from secret s
  join project p on p.id = s.project_id
  join environment e on e.id = s.environment_id
  join folder f on f.id = s.folder_id`;

/**
 * Matching shared secrets of many projects, in order, in one statement. The text differs only by which criteria are
 * set, so that each shape is planned once.
 */
export function searchRows(
  ctx: Context,
  projectIds: readonly string[],
  { criteria, after, limit }: { criteria: SearchCriteria; after: CursorKey | null; limit: number },
): Promise<FoundRow[]> {
  const given: unknown[] = [ctx.organizationId, projectIds];
  const next = (value: unknown): string => `$${given.push(value)}`;
  const conditions = ['s.organization_id = $1', 's.project_id = any($2::uuid[])'];
  if (criteria.key !== null) conditions.push(...keyConditions(criteria.key, next));
  // For a plain condition the planner assumes that hardly any folder matches, and plans a loop over all that do.
  if (criteria.path !== null) conditions.push(`coalesce(f.path like ${next(criteria.path)}, false)`);
  if (criteria.environments.length > 0) conditions.push(`e.slug = any(${next(criteria.environments)}::text[])`);
  conditions.push(...filterConditions(criteria, next), ...withinBounds(criteria.bounds, next));
  if (after !== null) {
    // The first column separately too: an index has it, and the rest comes from joins.
    const places = after.map((part) => `${next(part)}::text`);
    conditions.push(`${SEARCH_ORDER[0]} >= ${places[0]}`, `(${SEARCH_ORDER.join(', ')}) > (${places.join(', ')})`);
  }
  const text = `${SELECT} where ${conditions.join(' and ')} order by ${SEARCH_ORDER.join(', ')} limit ${next(limit)}`;
  return query<FoundRow>(ctx, text, given);
}

type Next = (value: unknown) => string;

function keyConditions({ equals, from, below, like }: TextMatch, next: Next): string[] {
  const key = SEARCH_ORDER[0];
  return [
    ...(equals === null ? [] : [`${key} = ${next(equals)}`]),
    ...(from === null ? [] : [`${key} >= ${next(from)}`]),
    ...(below === null ? [] : [`${key} < ${next(below)}`]),
    ...(like === null ? [] : [`${key} like ${next(like)}`]),
  ];
}
