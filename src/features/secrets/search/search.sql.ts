import type { Context } from '../../../kernel/context.js';
import { conditionsNamed, optionsOf, presentConditions } from '../../../kernel/database/conditions.js';
import { type RowFrom, sqlStatement, sqlVariants, t } from '../../../kernel/database/statement.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { CursorKey } from '../../../kernel/paging.js';
import { TAG_SLUGS, tagSlugsOf } from '../core/secret.queries.js';
import {
  BOUNDS_OPTION,
  BOUNDS_PARAMS,
  boundsOf,
  FILTER_PARAMS,
  FILTERS,
  filterParams,
  isWithinBounds,
  type ScanBounds,
  type SecretFilters,
} from '../scope/list-conditions.sql.js';
import { IN_MANY_PROJECTS, PROJECTS_OPTION, projectCountOption } from './pattern.sql.js';
import type { AgeOrder, TextMatch } from './search.rules.js';

// Pages of a search, which read no further than a page: lateral joins and walks along indexes, in many variants.

/** Search criteria. Null and empty lists do not narrow. */
export interface SearchCriteria extends SecretFilters {
  readonly key: TextMatch | null;
  /** A pattern of LIKE. */
  readonly path: string | null;
  readonly environments: readonly string[];
  readonly valueChangedBefore: Date | null;
  readonly updatedBefore: Date | null;
  /** Null: all folders. */
  readonly bounds: ScanBounds | null;
  /** All secrets that can match, where they are few. Null: any. */
  readonly secretIds: readonly string[] | null;
}

/** Those of a search for a pattern among all keys of projects, and not in some of their folders or among few secrets. */
export type PatternCriteria = SearchCriteria & { readonly key: TextMatch & { readonly like: string } };
export const hasKeyPattern = (criteria: SearchCriteria): criteria is PatternCriteria =>
  criteria.key?.like != null && criteria.bounds === null && criteria.secretIds === null;

/** The order of secrets of many projects. No two have the same position. */
const ORDER = ['key', '"projectSlug"', 'environment', 'path'].map((column) => `${column} collate "C"`).join(', ');

/** Position of a secret in that order. */
export const searchKeyOf = ({ key, projectSlug, environment, path }: FoundRow): CursorKey => [
  key,
  projectSlug,
  environment,
  path,
];

const KEYS = {
  equals: 's.key = :equals',
  from: 's.key >= :from',
  below: 's.key < :below',
  like: 's.key like :like',
};

/** Of a found secret, by its ID: as a join or by `exists`, the planner could begin with all secrets that match. */
const holds = (filter: string): string => `coalesce((select ${filter} from secret s where s.id = found.id), false)`;

/** Of a found secret. It decides whether the secret is shown, and not how far a page reaches. */
const MATCHES = [
  ':path::text is null or found.path like :path',
  'cardinality(:environments::text[]) = 0 or found.environment = any(:environments::text[])',
  `cardinality(:tagSlugs::text[]) = 0 or ${holds(FILTERS.tagSlugs)}`,
  `:metadata::text is null or ${holds(FILTERS.metadata)}`,
  `:valueChangedBefore::text is null or ${holds('s.value_changed_at < :valueChangedBefore::text::timestamptz')}`,
  `:updatedBefore::text is null or ${holds('s.updated_at < :updatedBefore::text::timestamptz')}`,
];
const IS_MATCH = MATCHES.map((condition) => `(${condition})`).join(' and ');

/** Where no index of keys finds them. */
const KEY_MATCHES = [
  ':equals::text is null or found.key = :equals',
  ':from::text is null or found.key >= :from',
  ':below::text is null or found.key < :below',
  ':like::text is null or found.key like :like',
]
  .map((condition) => `(${condition})`)
  .join(' and ');

const OPTIONS = { ...KEYS, keys: '', afterKey: '', secretIds: '' };
const VARIANTS = { ...optionsOf(OPTIONS), bounds: BOUNDS_OPTION, projects: PROJECTS_OPTION };
type Variant = { readonly [Name in keyof typeof VARIANTS]: (typeof VARIANTS)[Name][number] };

const IN_PROJECTS = 's.organization_id = :organizationId and s.project_id = any(:projectIds::uuid[])';
const AFTER_PROJECT = '(:afterProject::text, :afterEnvironment::text, :afterPath::text)';

/** Secrets with what their order depends on, looked up for each of them. */
const placed = (secrets: string, also?: string): string => `
  select s.id, s.key, s.project_id as "projectId", place.* ${also === undefined ? '' : `, ${also}`}
  from (${secrets}) s
  cross join lateral (
    select p.slug as "projectSlug", e.slug as environment, f.path
    from folder f join environment e on e.id = f.environment_id join project p on p.id = f.project_id
    where f.id = s.folder_id offset 0
  ) place`;

/**
 * Secrets of one key in order, project by project, no further than a limit: only a nested loop can join what has a limit
 * of its own, and it keeps the order of the projects. A key with fewer secrets than there are projects is looked up only
 * in projects that have it.
 */
const walk = (
  name: string,
  { key, conditions, isAfter, limit }: { key: string; conditions: string; isAfter: boolean; limit: string },
): string => `
  ${name}_project as materialized (
    select s.project_id as id from secret s where ${IN_PROJECTS} and s.key = ${key} limit cardinality(:projectIds::uuid[])
  ), ${name} as materialized (
    select found.*
    from unnest(:projectIds::uuid[], :projectSlugs::text[]) p (id, slug)
    cross join lateral (
      select s.id, s.key, s.project_id as "projectId", p.slug as "projectSlug", e.slug as environment, f.path
      from secret s join folder f on f.id = s.folder_id join environment e on e.id = f.environment_id
      where s.organization_id = :organizationId and s.project_id = p.id and s.key = ${key} and ${conditions}
        ${isAfter ? `and (p.slug collate "C", e.slug collate "C", f.path collate "C") > ${AFTER_PROJECT}` : ''}
      order by e.slug collate "C", f.path collate "C" limit :limit::integer
    ) found
    where ${isAfter ? 'p.slug collate "C" >= :afterProject::text and' : ''} (p.id in (select id from ${name}_project)
      or (select count(*) from ${name}_project) = cardinality(:projectIds::uuid[]))
    limit ${limit}
  )`;

/**
 * As many secrets as a page has, in the order of their keys alone, which an index has. When there are more, secrets of the
 * last key may be any of those that have it: they are found by a walk.
 */
const chunk = (secrets: string): string => `
  chunk as materialized (${placed(secrets)}),
  last as materialized (select case when count(*) = :limit::integer then max(key) end as key from chunk),
  chunk_before_last as materialized (
    select chunk.* from chunk join last on last.key is null or chunk.key < last.key
  )`;

/**
 * The secrets of a chunk. Keys that match a pattern are known, and in order: each is looked up in the index of all keys. Postgres may not see
 * that the project alone narrows them, too: where it knows of few secrets, it would read all of the projects for each key.
 */
function byKey(choice: Variant): string {
  const { afterKey, bounds } = choice;
  const select = 'select s.id, s.key, s.project_id, s.folder_id from secret s where';
  const isLeft = '(select count(*) from head) < :limit::integer';
  if (!choice.keys) {
    const keys = [
      IN_PROJECTS,
      ...conditionsNamed(KEYS, choice),
      ...(afterKey ? ['s.key > :afterKey::text', isLeft] : []),
    ];
    return `${select} ${[...keys, isWithinBounds(bounds)].join(' and ')} order by s.key limit :limit::integer`;
  }
  const ofKey = (isOfProjects: string): string =>
    `${select} s.organization_id = :organizationId and s.key = matching.key and ${isOfProjects} limit :limit::integer`;
  const isOfProject = '(s.key, s.project_id) >= (matching.key, p.id) and (s.key, s.project_id) <= (matching.key, p.id)';
  const inEach = `
    select s.* from unnest(:projectIds::uuid[]) p (id) cross join lateral (${ofKey(isOfProject)}) s limit :limit::integer`;
  return `
    select s.* from unnest(:keys::text[]) matching (key)
    cross join lateral (${choice.projects === 'few' ? inEach : ofKey(IN_MANY_PROJECTS)}) s
    ${afterKey ? `where ${isLeft}` : ''} limit :limit::integer`;
}

/** A page of any secrets, in no more work than a page takes, however many match: the rest of the first key, and further keys. */
function pageOf(choice: Variant): string {
  const conditions = isWithinBounds(choice.bounds);
  const isAfter = choice.afterKey;
  const head = (key: string): string => walk('head', { key, conditions, isAfter, limit: ':limit::integer' });
  if (choice.equals) return `with ${head(':equals')} select * from head`;
  const left = [isAfter ? 'head' : '', 'chunk_before_last'].filter((name) => name !== '');
  const limit = `greatest(0, :limit::integer ${left.map((name) => `- (select count(*) from ${name})`).join(' ')})`;
  const parts = [
    ...(isAfter ? [head(':afterKey::text')] : []),
    chunk(byKey(choice)),
    walk('tail', { key: '(select key from last)', conditions, isAfter: false, limit }),
  ];
  return `with ${parts.join(',')} ${[...left, 'tail'].map((name) => `select * from ${name}`).join(' union all ')}`;
}

const isAfterCursor = ({ afterKey }: Variant): string =>
  afterKey ? `where (${ORDER}) > (:afterKey::text, ${AFTER_PROJECT.slice(1)}` : '';

/**
 * The first of each of few folders, by the index of each, and of these the first by key: as many as a page and the ones
 * before it can have.
 */
const inFolders = (choice: Variant): string => `
  ${placed(`
    select s.* from unnest(:boundFolderIds::uuid[]) bound (folder_id)
    cross join lateral (
      select s.id, s.key, s.organization_id, s.project_id, s.folder_id from secret s
      where ${['s.folder_id = bound.folder_id', ...conditionsNamed(KEYS, choice)].join(' and ')}
        ${choice.afterKey ? 'and s.key >= :afterKey::text' : ''}
      order by s.key limit :limit::integer + 1
    ) s
    where ${IN_PROJECTS} order by s.key fetch first (:limit::integer + cardinality(:boundFolderIds::uuid[])) rows with ties`)}
  ${isAfterCursor(choice)}`;

/** Of these secrets, those within the bounds. */
const ofIds = (choice: Variant): string => `
  ${placed(`
    select s.* from unnest(:secretIds::uuid[]) candidate (id)
    cross join lateral (
      select s.id, s.key, s.project_id, s.folder_id from secret s
      where ${['s.id = candidate.id', IN_PROJECTS, ...conditionsNamed(KEYS, choice), isWithinBounds(choice.bounds)].join(' and ')} offset 0
    ) s`)}
  ${isAfterCursor(choice)}`;

function readFrom(choice: Variant): string {
  if (choice.secretIds) return ofIds(choice);
  return choice.bounds === 'few' ? inFolders(choice) : pageOf(choice);
}

const FOUND_ROW = {
  id: t.uuid,
  key: t.text,
  projectId: t.uuid,
  projectSlug: t.text,
  environment: t.text,
  path: t.text,
  tags: TAG_SLUGS,
  isMatch: t.boolean,
  /** Secrets of the page, whether they match or not. */
  examined: t.integer,
} as const;

/** Shared secrets of many projects, in order: those of a page that match, and the last one of it, which may not. */
export const listFound = sqlVariants({
  options: VARIANTS,
  text: (choice) => `
  select id, key, "projectId", "projectSlug", environment, path, ${tagSlugsOf('found.id')} as tags, "isMatch", examined
  from (
    select found.*, ${IS_MATCH} as "isMatch",
      (count(*) over ())::integer as examined, row_number() over (order by ${ORDER}) as place
    from (select * from (${readFrom(choice)}) found order by ${ORDER} limit :limit::integer) found
  ) found
  where "isMatch" or place = examined order by ${ORDER}`,
  params: {
    organizationId: t.uuid,
    // Both in the order of the slugs.
    projectIds: t.array(t.uuid),
    projectSlugs: t.array(t.text),
    equals: t.nullable(t.text),
    from: t.nullable(t.text),
    below: t.nullable(t.text),
    like: t.nullable(t.text),
    keys: t.nullable(t.array(t.text)),
    path: t.nullable(t.text),
    environments: t.array(t.text),
    valueChangedBefore: t.nullable(t.text),
    updatedBefore: t.nullable(t.text),
    ...FILTER_PARAMS,
    ...BOUNDS_PARAMS,
    afterKey: t.nullable(t.text),
    afterProject: t.nullable(t.text),
    afterEnvironment: t.nullable(t.text),
    afterPath: t.nullable(t.text),
    secretIds: t.nullable(t.array(t.uuid)),
    limit: t.integer,
  },
  row: FOUND_ROW,
});

/** The attributes of a secret that decide whether the caller may see it, and its position in the order; that by time, if that is asked for. */
export type FoundRow = RowFrom<typeof listFound> & { readonly time?: Date };

/** How many secrets a page has, whether they match or not. */
export const countExamined = (rows: readonly FoundRow[]): number => rows[0]?.examined ?? 0;

/** A project that is searched. */
export interface SearchedProject {
  readonly projectId: string;
  readonly slug: string;
}

const ANY_KEY: TextMatch = { equals: null, from: null, below: null, like: null };

/** Whether some of the secrets of a page may not match. */
export const isFiltered = ({ environments, tagSlugs, metadata, ...criteria }: SearchCriteria): boolean =>
  [environments, tagSlugs, metadata].some((list) => list.length > 0) ||
  [criteria.path, criteria.valueChangedBefore, criteria.updatedBefore].some((condition) => condition !== null);

/** From where on a page is read, and how far. */
interface SearchedPage {
  readonly criteria: SearchCriteria;
  readonly after: CursorKey | null;
  readonly limit: number;
  /** Those after the key of `after` that match the pattern of the criteria, in order. Absent: they are still to be compared. */
  readonly keys?: readonly string[];
}

/** Shared secrets of many projects, in order, in one statement: so many, and which of them match. */
export function searchRows(
  ctx: Context,
  projects: readonly SearchedProject[],
  { criteria, after, limit, keys }: SearchedPage,
): Promise<FoundRow[]> {
  const [afterKey = null, afterProject = null, afterEnvironment = null, afterPath = null] = after ?? [];
  const { key, path, environments, valueChangedBefore, updatedBefore, secretIds } = criteria;
  if (secretIds?.length === 0 || (keys?.length === 0 && after === null)) return Promise.resolve([]);
  const bounds = boundsOf(criteria.bounds);
  const params = {
    ...(keys === undefined ? (key ?? ANY_KEY) : ANY_KEY),
    keys: keys ?? null,
    path,
    environments,
    valueChangedBefore: valueChangedBefore?.toISOString() ?? null,
    updatedBefore: updatedBefore?.toISOString() ?? null,
    ...filterParams(criteria),
    ...bounds.params,
    secretIds,
    afterKey,
    afterProject,
    afterEnvironment,
    afterPath,
  };
  const inOrder = projects.toSorted((one, other) => (one.slug < other.slug ? -1 : 1));
  const projectIds = inOrder.map(({ projectId }) => projectId);
  const projectSlugs = inOrder.map(({ slug }) => slug);
  const choice = { ...presentConditions(OPTIONS, params), keys: keys !== undefined, bounds: bounds.choice };
  return listFound({ ...choice, projects: projectCountOption(projects) })(ctx, {
    organizationId: ctx.organizationId,
    projectIds,
    projectSlugs,
    ...params,
    limit,
  });
}

// The same by time: by the indexes of each project, no further than a page.

const AGES = { VALUE_CHANGED_AT: 'value_changed_at', UPDATED_AT: 'updated_at' } as const;
const AGE_FILTERS = { VALUE_CHANGED_AT: 'valueChangedBefore', UPDATED_AT: 'updatedBefore' } as const;

const AGED_VARIANTS = {
  field: ['VALUE_CHANGED_AT', 'UPDATED_AT'] as const,
  direction: ['ASC', 'DESC'] as const,
  ...optionsOf({ after: '', before: '' }),
  source: ['projects', 'manyProjects', 'folders', 'secretIds'] as const,
  bounds: BOUNDS_OPTION,
};
type AgedVariant = { readonly [Name in keyof typeof AGED_VARIANTS]: (typeof AGED_VARIANTS)[Name][number] };

/**
 * Secrets in the order of their ages, as many as a page has at most. Of many projects, each could have the whole page: so a few of each are
 * looked at first, and no project is read further than to where these make a page.
 */
function agedFrom({ field, direction, after, before, source, bounds }: AgedVariant): string {
  const column = `s.${AGES[field]}`;
  const [isBehind, isUpTo] = direction === 'ASC' ? ['>', '<='] : ['<', '>='];
  const conditions = [
    ...(after ? [`(${column}, s.id) ${isBehind} (:afterTime::text::timestamptz, :afterId::uuid)`] : []),
    ...(before ? [`${column} < :${AGE_FILTERS[field]}::text::timestamptz`] : []),
    isWithinBounds(bounds),
  ].join(' and ');
  const select = `select s.id, s.key, s.project_id, s.folder_id, ${column} as time from secret s`;
  const inOrder = `order by time ${direction}, id ${direction}`;
  const page = `${inOrder} limit :limit::integer`;
  if (source === 'folders')
    return `select s.* from unnest(:boundFolderIds::uuid[]) bound (folder_id)
      cross join lateral (${select} where s.folder_id = bound.folder_id and ${IN_PROJECTS} and ${conditions} ${page}) s ${page}`;
  if (source === 'secretIds')
    return `select s.* from unnest(:secretIds::uuid[]) candidate (id)
      cross join lateral (${select} where s.id = candidate.id and ${IN_PROJECTS} and ${conditions} offset 0) s ${page}`;
  const ofEach = (further: string, limit: string): string => `unnest(:projectIds::uuid[]) p (id)
      cross join lateral (${select} where s.project_id = p.id and ${conditions} ${further} ${inOrder} limit ${limit}) s`;
  if (source === 'projects') return `select s.* from ${ofEach('', ':limit::integer')} ${page}`;
  const [end, lastId] = direction === 'ASC' ? ['infinity', LAST_ID] : ['-infinity', NO_ID];
  return `with sampled as materialized (select s.time, s.id from ${ofEach('', ':sample::integer')}),
    reached as materialized (select time, id from sampled ${inOrder} offset :limit::integer - 1 limit 1)
    select s.* from ${ofEach(
      `and (${column}, s.id) ${isUpTo} (coalesce((select time from reached), '${end}'), coalesce((select id from reached), '${lastId}'::uuid))`,
      ':limit::integer',
    )} ${page}`;
}

/** After all others. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Shared secrets of many projects by a time, then ID: those of a page that match, and the last one of it, which may not. */
export const listFoundByAge = sqlVariants({
  options: AGED_VARIANTS,
  text: (choice) => `
  select id, key, "projectId", "projectSlug", environment, path, ${tagSlugsOf('found.id')} as tags, "isMatch", examined, time
  from (
    select found.*, ${[...MATCHES, KEY_MATCHES].map((condition) => `(${condition})`).join(' and ')} as "isMatch",
      (count(*) over ())::integer as examined, row_number() over (order by time ${choice.direction}, id ${choice.direction}) as place
    from (${placed(agedFrom(choice), 's.time')}) found
  ) found
  where "isMatch" or place = examined order by time ${choice.direction}, id ${choice.direction}`,
  params: {
    organizationId: t.uuid,
    projectIds: t.array(t.uuid),
    sample: t.integer,
    equals: t.nullable(t.text),
    from: t.nullable(t.text),
    below: t.nullable(t.text),
    like: t.nullable(t.text),
    path: t.nullable(t.text),
    environments: t.array(t.text),
    valueChangedBefore: t.nullable(t.text),
    updatedBefore: t.nullable(t.text),
    ...FILTER_PARAMS,
    ...BOUNDS_PARAMS,
    afterTime: t.nullable(t.text),
    afterId: t.nullable(t.uuid),
    secretIds: t.nullable(t.array(t.uuid)),
    limit: t.integer,
  },
  row: { ...FOUND_ROW, time: t.time },
});

/** Whether some of the secrets of a page in this order may not match. */
export const isFilteredInOrder = (criteria: SearchCriteria, { field }: AgeOrder): boolean =>
  criteria.key !== null || isFiltered({ ...criteria, [AGE_FILTERS[field]]: null });

/** Shared secrets of many projects by a time, in one statement: so many, and which of them match. */
export function searchRowsByAge(
  ctx: Context,
  projects: readonly SearchedProject[],
  { criteria, order, after, limit }: Omit<SearchedPage, 'keys'> & { readonly order: AgeOrder },
): Promise<FoundRow[]> {
  const [afterTime = null, afterId = null] = after ?? [];
  const { key, path, environments, valueChangedBefore, updatedBefore, secretIds } = criteria;
  if (secretIds?.length === 0) return Promise.resolve([]);
  const bounds = boundsOf(criteria.bounds);
  const params = {
    ...(key ?? ANY_KEY),
    path,
    environments,
    valueChangedBefore: valueChangedBefore?.toISOString() ?? null,
    updatedBefore: updatedBefore?.toISOString() ?? null,
    ...filterParams(criteria),
    ...bounds.params,
    secretIds,
    afterTime,
    afterId,
  };
  const ofProjects = projectCountOption(projects) === 'few' ? 'projects' : 'manyProjects';
  const ofFolders = bounds.choice === 'few' ? 'folders' : ofProjects;
  const choice = {
    ...presentConditions({ after: '', before: '' }, { after, before: params[AGE_FILTERS[order.field]] }),
    ...order,
  };
  return listFoundByAge({ ...choice, source: secretIds === null ? ofFolders : 'secretIds', bounds: bounds.choice })(
    ctx,
    {
      organizationId: ctx.organizationId,
      projectIds: projects.map(({ projectId }) => projectId),
      // Twice as many as each has of a page if all have as many.
      sample: Math.ceil((2 * limit) / Math.max(projects.length, 1)) + 2,
      ...params,
      limit,
    },
  );
}

// What narrows a search beforehand, where there are few: lateral joins that stop at a number of rows.

/** IDs of secrets with any of these tags, project by project and tag by tag, up to a number. */
export const listTagged = sqlStatement({
  text: `
  select st.secret_id as id
  from unnest(:projectIds::uuid[]) p (id)
  cross join lateral (select t.id from tag t where t.project_id = p.id and t.slug = any(:tagSlugs::text[]) offset 0) t
  cross join lateral (select st.secret_id from secret_tag st where st.tag_id = t.id limit :limit::integer) st
  limit :limit::integer`,
  params: { projectIds: t.array(t.uuid), tagSlugs: t.array(t.text), limit: t.integer },
  row: { id: t.uuid },
});

/** Folders of these environments whose paths are in a range, environment by environment, up to a number. */
export const listFoldersWithin = sqlStatement({
  text: `
  select f.id
  from unnest(:projectIds::uuid[]) p (id)
  cross join lateral (
    select e.id from environment e
    where e.project_id = p.id and (cardinality(:environments::text[]) = 0 or e.slug = any(:environments::text[])) offset 0
  ) e
  cross join lateral (
    select f.id from folder f
    where f.environment_id = e.id and f.path >= :from::text and f.path < :below::text limit :limit::integer
  ) f
  limit :limit::integer`,
  params: {
    projectIds: t.array(t.uuid),
    environments: t.array(t.text),
    from: t.text,
    below: t.text,
    limit: t.integer,
  },
  row: { id: t.uuid },
});
