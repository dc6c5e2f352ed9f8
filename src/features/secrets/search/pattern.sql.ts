import type { Context } from '../../../kernel/context.js';
import { chosenBy, chosenOf, optionsOf } from '../../../kernel/database/conditions.js';
import { sqlVariants, t } from '../../../kernel/database/statement.js';
import type { TextMatch } from '../scope/glob.rules.js';

const RANGE = {
  from: 's.key >= :from',
  below: 's.key < :below',
  afterKey: 's.key > :afterKey::text',
};

const PARAMS = {
  projectIds: t.array(t.uuid),
  folderIds: t.array(t.uuid),
  from: t.nullable(t.text),
  below: t.nullable(t.text),
  afterKey: t.nullable(t.text),
  like: t.text,
  limit: t.integer,
} as const;

const IN_PROJECT = 's.project_id in (select unnest(:projectIds::uuid[]))';

/**
 * True for a secret `s` within places. A filter, made once for all rows: as a condition of the index, each key would be looked up in each
 * project. Folders are in the table only, so they are left out where there are none.
 */
const WITHIN = {
  organization: 'true',
  projects: `coalesce(${IN_PROJECT}, false)`,
  folders: `coalesce(${IN_PROJECT} or s.folder_id in (select unnest(:folderIds::uuid[])), false)`,
} as const;
type Within = keyof typeof WITHIN;

/**
 * Keys that match, along the index of all keys, in steps: each looks at the first few entries after the last key of the one before, so that a
 * key that all projects have is not compared once for each of them. Entries of other places are passed over and not counted.
 */
export const walkKeys = sqlVariants({
  options: { ...optionsOf(RANGE), within: ['organization', 'projects', 'folders'] as readonly Within[] },
  text: (choice) => `
  with recursive walked as (
    select 0 as place, ${choice.afterKey ? ':afterKey::text' : `''::text`} collate "C" as last, '{}'::text[] collate "C" as keys,
      0 as found, false as "isEnd"
    union all
    select walked.place + 1, coalesce(step.last, walked.last), step.keys, walked.found + cardinality(step.keys),
      step.size < :step::integer
    from walked cross join lateral (
      select max(s.key) as last, count(*) as size,
        coalesce(array_agg(distinct s.key) filter (where s.key like :like), '{}') as keys
      from (
        select s.key from secret s
        where s.organization_id = :organizationId and s.key > walked.last
          and ${[...chosenOf({ from: RANGE.from, below: RANGE.below }, choice), WITHIN[choice.within]].join(' and ')}
        order by s.key limit :step::integer
      ) s
    ) step
    where not walked."isEnd" and walked.found < :limit::integer and walked.place * :step::integer < :entries::integer
  )
  select array(select unnest(keys) from walked order by place) as keys, case when not "isEnd" then last end as reached
  from walked order by place desc limit 1`,
  params: { organizationId: t.uuid, ...PARAMS, entries: t.integer, step: t.integer },
  row: { keys: t.array(t.text), reached: t.nullable(t.text) },
});

/**
 * Keys that match in the projects and folders, of all their secrets, each folder by its own index, up to a limit. No row: there are too many
 * folders or secrets.
 */
export const listKeysOfFolders = sqlVariants({
  options: optionsOf(RANGE),
  text: (choice) => `
  with place as materialized (
    select place.id from (
      select f.id from unnest(:projectIds::uuid[]) p (id)
      cross join lateral (select f.id from folder f where f.project_id = p.id limit :folders::integer + 1) f
      union all select unnest(:folderIds::uuid[])
    ) place limit :folders::integer + 1
  ), found as materialized (
    select count(*) as size, array_agg(distinct entry.key) filter (where entry.key like :like) as keys
    from (
      select s.key from place cross join lateral (
        select s.key from secret s where ${['s.folder_id = place.id', ...chosenOf(RANGE, choice)].join(' and ')}
        order by s.key limit :secrets::integer + 1
      ) s
      where (select count(*) from place) <= :folders::integer limit :secrets::integer + 1
    ) entry
  )
  select coalesce(keys[1 : :limit::integer], '{}') as keys
  from found where size <= :secrets::integer and (select count(*) from place) <= :folders::integer`,
  params: { ...PARAMS, folders: t.integer, secrets: t.integer },
  row: { keys: t.array(t.text) },
});

/** How much one statement looks at. */
export interface PatternLimits {
  /** Entries of a walk through all keys of the organization, whose secrets the caller may or may not know of. */
  readonly near: number;
  /** Entries of a walk through those that the caller may know of, no fewer. A request has three at most, so about 100,000. */
  readonly entries: number;
  /** Entries of one step of a walk. */
  readonly step: number;
  /** Up to this number of secrets that the caller may know of, all are looked at. */
  readonly secrets: number;
  /** The same of their folders. */
  readonly folders: number;
}

export const PATTERN_LIMITS: PatternLimits = {
  near: 10_000,
  entries: 33_340,
  step: 10,
  secrets: 100_000,
  folders: 10_000,
};

/** What a pattern matched. */
export interface MatchingKeys {
  /** In order, each once: as many as asked for, or more, or all up to where the statement ended. */
  readonly keys: readonly string[];
  /** None up to this one is missing; null: none at all. */
  readonly reached: string | null;
}

/** What to look for, and where. */
interface PatternQuestion {
  /** Projects with all their folders. */
  readonly projectIds: readonly string[];
  /** Single folders of others. */
  readonly folderIds: readonly string[];
  readonly key: TextMatch & { readonly like: string };
  readonly afterKey: string | null;
  readonly limit: number;
}

const walk = async (
  ctx: Context,
  { key, ...question }: PatternQuestion,
  { within, ...limits }: { readonly within: Within; readonly step: number; readonly entries: number },
): Promise<MatchingKeys> => {
  const params = { organizationId: ctx.organizationId, ...key, ...question, ...limits };
  const [walked] = await walkKeys({ ...chosenBy(RANGE, params), within })(ctx, params);
  return walked as MatchingKeys;
};

/**
 * Keys of the organization, in few steps. Whether the caller may know of a secret with any of them is still to be found out, so they tell
 * nothing by themselves.
 */
export const findNearKeys = (
  ctx: Context,
  question: PatternQuestion,
  { step, near }: PatternLimits,
): Promise<MatchingKeys> => walk(ctx, question, { within: 'organization', step, entries: near });

/** Keys of the places of the question. */
export const findWalkedKeys = (
  ctx: Context,
  question: PatternQuestion,
  { step, entries }: PatternLimits,
): Promise<MatchingKeys> =>
  walk(ctx, question, { within: question.folderIds.length > 0 ? 'folders' : 'projects', step, entries });

/** The same, by the folders. Null: there are too many of them, or of their secrets. */
export async function findKeysOfFolders(
  ctx: Context,
  { key, ...question }: PatternQuestion,
  { folders, secrets }: PatternLimits,
): Promise<MatchingKeys | null> {
  if (question.folderIds.length > folders) return null;
  const params = { ...key, ...question, folders, secrets };
  const [found] = await listKeysOfFolders(chosenBy(RANGE, params))(ctx, params);
  if (found === undefined) return null;
  return { keys: found.keys, reached: found.keys.length < question.limit ? null : (found.keys.at(-1) as string) };
}
