import type { Context } from '../../../kernel/context.js';
import { chosenBy, chosenOf, optionsOf } from '../../../kernel/database/conditions.js';
import { sqlVariants, t } from '../../../kernel/database/statement.js';
import type { TextMatch } from '../scope/glob.rules.js';
import { BOUNDS_OPTION, BOUNDS_PARAMS, boundsOf, isWithinBounds, type ScanBounds } from '../scope/scan-bounds.sql.js';

/** How many entries of an index one statement compares with a pattern: a request has up to three, so about 100,000. */
const ENTRIES = 33_333;

const CONDITIONS = {
  from: 's.key >= :from',
  // As a plain comparison, with the other: the planner takes such a range for so narrow that it sorts the keys of another index.
  below: 's.key < any(array[:below::text])',
  afterKey: 's.key > :afterKey::text',
};
const VARIANTS = { ...optionsOf(CONDITIONS), bounds: BOUNDS_OPTION };
type Variant = { readonly [Name in keyof typeof VARIANTS]: (typeof VARIANTS)[Name][number] };

const IN_PROJECTS = 's.organization_id = :organizationId and s.project_id = any(:projectIds::uuid[])';

/**
 * In order and no further than needed: the first entry of each key that matches, up to a limit, and the last entry that may be
 * looked at, whether it matches or not.
 */
const scan = (conditions: readonly string[], most: string): string => `
  select s.key, s.place, s.place = ${most} as "isLast"
  from (
    select s.key, row_number() over (order by s.key) as place, lag(s.key) over (order by s.key) as before
    from secret s where ${conditions.join(' and ')} order by s.key limit ${most}
  ) s
  where (s.key like :like and s.key is distinct from s.before) or s.place = ${most}
  order by s.key limit :limit::integer`;

/** Along the index of all keys. Entries that the caller must not know of are passed over, and not counted. */
const inProjects = (choice: Variant): string => {
  const conditions = [IN_PROJECTS, ...chosenOf(CONDITIONS, choice), isWithinBounds(choice.bounds)];
  return `entry as materialized (select 1 as source, * from (${scan(conditions, ':entries::integer')}) found)`;
};

/**
 * Along the index of each folder. What the smallest folders leave of an even share of the entries is for the others: if a few of each folder
 * are so many in all, n times as many of each are at most n times as many in all.
 */
const inFolders = (choice: Variant): string => {
  const conditions = ['s.folder_id = bound.folder_id', ...chosenOf(CONDITIONS, choice)];
  const folders = 'unnest(:boundFolderIds::uuid[]) bound (folder_id)';
  const few = 'least(:limit::integer, :entries::integer / greatest(1, cardinality(:boundFolderIds::uuid[])))';
  return `
  share as materialized (
    select greatest(1, ${few}::bigint * :entries::integer / greatest(1, count(*))) as most
    from ${folders} cross join lateral (
      select s.key from secret s where ${conditions.join(' and ')} order by s.key limit ${few}
    ) s
  ), entry as materialized (
    select bound.folder_id as source, s.* from ${folders}
    cross join lateral (${scan(conditions, '(select most from share)')}) s
  )`;
};

/**
 * Keys that match a pattern, in order, each once, up to a limit, and how far they were looked for: to the first place where one of the
 * sources was not read to its end.
 */
export const listMatchingKeys = sqlVariants({
  options: VARIANTS,
  text: (choice) => `
  with ${choice.bounds === 'few' ? inFolders(choice) : inProjects(choice)},
  reached as materialized (
    select min(key) as key
    from (select max(key) as key from entry group by source having bool_or("isLast") or count(*) = :limit::integer) source
  )
  select distinct entry.key, entry.key like :like as "isMatch", reached.key as reached
  from entry cross join reached where reached.key is null or entry.key <= reached.key
  order by entry.key limit :limit::integer + 1`,
  params: {
    organizationId: t.uuid,
    projectIds: t.array(t.uuid),
    from: t.nullable(t.text),
    below: t.nullable(t.text),
    like: t.text,
    afterKey: t.nullable(t.text),
    ...BOUNDS_PARAMS,
    entries: t.integer,
    limit: t.integer,
  },
  row: { key: t.text, isMatch: t.boolean, reached: t.nullable(t.text) },
});

/** What a pattern matched. */
export interface MatchingKeys {
  readonly keys: readonly string[];
  /** None up to this one is missing; null: none at all. */
  readonly reached: string | null;
}

/** What to look for, and where. */
interface PatternQuestion {
  readonly projectIds: readonly string[];
  readonly key: TextMatch & { readonly like: string };
  readonly bounds: ScanBounds | null;
  readonly afterKey: string | null;
  readonly limit: number;
}

/** The next keys that match a pattern: up to a limit, and among as many entries as one statement may look at. */
export async function findMatchingKeys(
  ctx: Context,
  { projectIds, key, bounds, afterKey, limit }: PatternQuestion,
  entries = ENTRIES,
): Promise<MatchingKeys> {
  const { choice, params: bound } = boundsOf(bounds);
  const params = { organizationId: ctx.organizationId, projectIds, ...key, ...bound, afterKey, entries, limit };
  const found = await listMatchingKeys({ ...chosenBy(CONDITIONS, params), bounds: choice })(ctx, params);
  const first = found.slice(0, limit);
  return {
    keys: first.filter(({ isMatch }) => isMatch).map((match) => match.key),
    reached: (found.length > limit ? first.at(-1)?.key : found[0]?.reached) ?? null,
  };
}
