// A walk along the index of keys: a recursive statement.
import type { Context } from '../../../kernel/context.js';
import { conditionsNamed, optionsOf, presentConditions } from '../../../kernel/database/conditions.js';
import { sqlVariants, t } from '../../../kernel/database/statement.js';
import type { TextMatch } from './search.rules.js';

const RANGE = { from: 's.key >= :from', below: 's.key < :below' };

export const PROJECTS_OPTION = ['few', 'many'] as const;
type FewOrMany = (typeof PROJECTS_OPTION)[number];

/** Up to this number of projects it is cheaper to look each key up in all of them than to look at the entries of others. */
const FEW_PROJECTS = 50;
export const projectCountOption = (projects: readonly unknown[]): FewOrMany =>
  projects.length > FEW_PROJECTS ? 'many' : 'few';

/** True for a secret `s` of the projects: no condition of the index, but made once for all entries. */
export const IN_MANY_PROJECTS = 'coalesce(s.project_id in (select unnest(:projectIds::uuid[])), false)';
const IN_PROJECTS = { few: 's.project_id = any(:projectIds::uuid[])', many: IN_MANY_PROJECTS };

/**
 * Keys that match, along the index of all keys, in steps: each looks at some entries after the last key of the one before, so that a key that
 * very many projects have is not compared once for each of them. Entries of other projects are passed over and not counted.
 */
export const walkKeys = sqlVariants({
  options: { ...optionsOf({ ...RANGE, afterKey: '' }), projects: PROJECTS_OPTION },
  text: (choice) => `
  with recursive walked as (
    select 0 as step, 0 as looked, :stepSize::integer as size, ${choice.afterKey ? ':afterKey::text' : `''::text`} collate "C" as last, '{}'::text[] collate "C" as keys,
      0 as found, false as "isEnd"
    union all
    select walked.step + 1, walked.looked + walked.size, walked.size * :growth::integer, coalesce(entry.last, walked.last), entry.keys,
      walked.found + cardinality(entry.keys), entry.count < walked.size
    from walked cross join lateral (
      select max(s.key) as last, count(*),
        coalesce(array_agg(distinct s.key) filter (where s.key like :like), '{}') as keys
      from (
        select s.key from secret s
        where s.organization_id = :organizationId and s.key > walked.last
          and ${[...conditionsNamed(RANGE, choice), IN_PROJECTS[choice.projects]].join(' and ')}
        order by s.key limit walked.size
      ) s
    ) entry
    where not walked."isEnd" and walked.found < :limit::integer and walked.looked < :entries::integer
  )
  select array(select unnest(keys) from walked order by step) as keys, case when not "isEnd" then last end as reached
  from walked order by step desc limit 1`,
  params: {
    organizationId: t.uuid,
    projectIds: t.array(t.uuid),
    from: t.nullable(t.text),
    below: t.nullable(t.text),
    afterKey: t.nullable(t.text),
    like: t.text,
    limit: t.integer,
    entries: t.integer,
    stepSize: t.integer,
    growth: t.integer,
  },
  row: { keys: t.array(t.text), reached: t.nullable(t.text) },
});

/** How a walk goes. */
export interface Walk {
  readonly projects: FewOrMany;
  /** Entries that one statement looks at, or a few more. A request has three at most, so about 100,000. */
  readonly entries: number;
  /** Of these, at the first step, and how many times as many at each step after that. */
  readonly stepSize: number;
  readonly growth: number;
}

/**
 * In few projects, a key is not there often, and few steps are taken: where statistics tell of fewer secrets than there are, Postgres may read
 * all those of the projects for each step.
 */
const WALKS: Readonly<Record<FewOrMany, Walk>> = {
  few: { projects: 'few', entries: 33_340, stepSize: 100, growth: 4 },
  many: { projects: 'many', entries: 33_340, stepSize: 10, growth: 1 },
};

/** What a pattern matched. */
interface MatchingKeys {
  /** In order, each once: as many as asked for, or a few more, or all up to where the statement ended. */
  readonly keys: readonly string[];
  /** None up to this one is missing; null: none at all. */
  readonly reached: string | null;
}

/** What to look for, and where. */
interface PatternSearch {
  readonly projectIds: readonly string[];
  readonly key: TextMatch & { readonly like: string };
  readonly afterKey: string | null;
  readonly limit: number;
}

/** The next keys that match a pattern: up to a limit, and among as many entries as one statement may look at. */
export async function findMatchingKeys(
  ctx: Context,
  { key, ...question }: PatternSearch,
  { projects, ...steps }: Walk = WALKS[projectCountOption(question.projectIds)],
): Promise<MatchingKeys> {
  const params = { organizationId: ctx.organizationId, ...key, ...question, ...steps };
  const walk = walkKeys({ ...presentConditions({ ...RANGE, afterKey: '' }, params), projects });
  const [walked] = await walk(ctx, params);
  return walked as MatchingKeys;
}
