import type { Context } from '../../../kernel/context.js';
import { chosenBy, chosenOf, optionsOf } from '../../../kernel/database/conditions.js';
import { type RowFrom, sqlVariants, t } from '../../../kernel/database/statement.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { FILTER_PARAMS, FILTERS, filterParams, type SecretFilters } from '../scope/filter.sql.js';
import type { TextMatch } from '../scope/glob.rules.js';
import { BOUNDS_OPTION, BOUNDS_PARAMS, boundsOf, isWithinBounds, type ScanBounds } from '../scope/scan-bounds.sql.js';
import { TAG_SLUGS, tagSlugsOf } from '../scope/subject.sql.js';

/** Search criteria. Null and empty lists do not narrow. */
export interface SearchCriteria extends SecretFilters {
  readonly key: TextMatch | null;
  /** A pattern of LIKE. */
  readonly path: string | null;
  readonly environments: readonly string[];
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
}

/** The order of secrets of many projects. No two have the same position. */
const ORDER = ['s.key', 'p.slug', 'e.slug', 'f.path'].map((column) => `${column} collate "C"`);
const [KEY] = ORDER;

/** Position of a secret in that order. */
export const searchKeyOf = ({ key, projectSlug, environment, path }: FoundRow): CursorKey => [
  key,
  projectSlug,
  environment,
  path,
];

const CONDITIONS = {
  equals: `${KEY} = :equals`,
  from: `${KEY} >= :from`,
  below: `${KEY} < :below`,
  like: `${KEY} like :like`,
  // For a plain condition the planner assumes that hardly any folder matches, and plans a loop over all that do.
  path: 'coalesce(f.path like :path, false)',
  environments: 'e.slug = any(:environments::text[])',
  ...FILTERS,
  // The first column separately too: an index has it, and the rest comes from joins.
  afterKey: `${KEY} >= :afterKey::text
    and (${ORDER.join(', ')}) > (:afterKey::text, :afterProject::text, :afterEnvironment::text, :afterPath::text)`,
};

/** Matching shared secrets of many projects, in order. */
export const listFound = sqlVariants({
  options: { ...optionsOf(CONDITIONS), bounds: BOUNDS_OPTION },
  text: (choice) => `
  select s.id, s.key, s.project_id as "projectId", p.slug as "projectSlug", e.slug as environment, f.path,
    ${tagSlugsOf('s.id')} as tags
  from secret s
  join project p on p.id = s.project_id
  join folder f on f.id = s.folder_id
  join environment e on e.id = f.environment_id
  where s.organization_id = :organizationId and s.project_id = any(:projectIds::uuid[])
    and ${[...chosenOf(CONDITIONS, choice), isWithinBounds(choice.bounds)].join(' and ')}
  order by ${ORDER.join(', ')} limit :limit::integer`,
  params: {
    organizationId: t.uuid,
    projectIds: t.array(t.uuid),
    equals: t.nullable(t.text),
    from: t.nullable(t.text),
    below: t.nullable(t.text),
    like: t.nullable(t.text),
    path: t.nullable(t.text),
    environments: t.array(t.text),
    ...FILTER_PARAMS,
    ...BOUNDS_PARAMS,
    afterKey: t.nullable(t.text),
    afterProject: t.nullable(t.text),
    afterEnvironment: t.nullable(t.text),
    afterPath: t.nullable(t.text),
    limit: t.integer,
  },
  row: {
    id: t.uuid,
    key: t.text,
    projectId: t.uuid,
    projectSlug: t.text,
    environment: t.text,
    path: t.text,
    tags: TAG_SLUGS,
  },
});

/** The attributes of a secret that decide whether the caller may see it, and its position in the order. */
export type FoundRow = RowFrom<typeof listFound>;

const ANY_KEY: TextMatch = { equals: null, from: null, below: null, like: null };

/** Matching shared secrets of many projects, in order, in one statement. */
export function searchRows(
  ctx: Context,
  projectIds: readonly string[],
  { criteria, after, limit }: { criteria: SearchCriteria; after: CursorKey | null; limit: number },
): Promise<FoundRow[]> {
  const [afterKey = null, afterProject = null, afterEnvironment = null, afterPath = null] = after ?? [];
  const { key, path, environments } = criteria;
  const bounds = boundsOf(criteria.bounds);
  const params = {
    ...(key ?? ANY_KEY),
    path,
    environments,
    ...filterParams(criteria),
    ...bounds.params,
    afterKey,
    afterProject,
    afterEnvironment,
    afterPath,
  };
  const list = listFound({ ...chosenBy(CONDITIONS, params), bounds: bounds.choice });
  return list(ctx, { organizationId: ctx.organizationId, projectIds, ...params, limit });
}
