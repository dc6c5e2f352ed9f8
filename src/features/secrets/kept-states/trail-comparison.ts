import type { Query } from '../../../kernel/database/database.js';
import { personalDigest, secretDigest } from '../core/secret-states.js';

/** A secret that differs from its last change in the audit trail. */
interface Difference {
  /** What it is, and its id. */
  readonly name: string;
  readonly difference: string;
}

/** Comparison of the stored secrets with the audit trail. */
export interface TrailComparison {
  /** Secrets that match the trail. */
  readonly equal: number;
  /** Secrets without a version in the trail: they were last written before it recorded versions. */
  readonly unknown: number;
  /** The first of them; `differenceCount` counts all. */
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
}

type Verdict = 'equal' | 'unknown' | 'version' | 'contents' | 'deleted' | 'missing';

interface Compared {
  readonly kind: string;
  readonly id: string;
  readonly verdict: Verdict;
  readonly storedVersion: number | null;
  readonly trailVersion: number | null;
  /** Of all with this verdict. */
  readonly total: number;
}

/**
 * Compares each secret and personal secret with its latest version in the audit trail. One statement in the database:
 * neither the rows nor the trail are read into memory. It trusts the rows of the trail; that they are genuine is
 * checked separately.
 *
 * @param limit how many differences of a kind are described
 */
export async function compareWithTrail(query: Query, limit: number): Promise<TrailComparison> {
  const compared = await query<Compared>(COMPARE, [limit]);
  const totalOf = (verdict: Verdict): number => compared.find((row) => row.verdict === verdict)?.total ?? 0;
  const different = compared.filter(({ verdict }) => verdict !== 'equal' && verdict !== 'unknown');
  return {
    equal: totalOf('equal'),
    unknown: totalOf('unknown'),
    differences: different.slice(0, limit).map((row) => ({ name: `${row.kind} ${row.id}`, difference: describe(row) })),
    differenceCount: totalOf('version') + totalOf('contents') + totalOf('deleted') + totalOf('missing'),
  };
}

function describe({ verdict, storedVersion, trailVersion }: Compared): string {
  if (verdict === 'version') return `has version ${storedVersion}; the trail has ${trailVersion}`;
  if (verdict === 'contents')
    return `its contents, name or location are not those of version ${trailVersion} in the trail`;
  if (verdict === 'deleted') return `has version ${storedVersion}; the trail has it deleted by version ${trailVersion}`;
  return `is missing; the trail has version ${trailVersion} and no deletion`;
}

/**
 * A version is written once, so of two in the trail the first counts: a secret that was set back, and then written
 * again as the same version, still differs. Only a re-encryption makes another state of a version: it names the state that it found,
 * and counts where that is the one that counted until then. IDs are compared as text, since a forged row may contain anything.
 */
const TRAIL = `given as (
    select split_part(state, ':', 1) as id, split_part(state, ':', 2) as version, split_part(state, ':', 3) as digest,
      split_part(state, ':', 4) as former, r.sequence
    from audit_record r, jsonb_array_elements_text(case jsonb_typeof(r.facts->'states') when 'array' then r.facts->'states' else '[]' end) state
    where r.facts ? 'states'
  ), written as (
    select distinct on (id) id, version, digest from given
    where version ~ '^[1-9][0-9]{0,8}$' and former = '' order by id, version::integer desc, sequence
  ), followed as (
    select id, version, digest from written
    union
    select f.id, f.version, g.digest from followed f join given g on g.id = f.id and g.version = f.version and g.former = f.digest
    where f.digest <> ''
  ), trail as (
    select distinct on (f.id) f.id, f.version::integer as version, f.digest
    from followed f left join given g on g.id = f.id and g.version = f.version and g.former = f.digest and f.digest <> ''
    order by f.id, g.id is not null
  )`;

const STORED = `stored as (
    select 'secret' as kind, s.id::text as id, s.version, ${secretDigest('s')} as digest from secret s
    union all
    select 'personal secret', p.id::text, p.version, ${personalDigest('p')} from personal_secret p
  )`;

/**
 * Secrets of a deleted environment or project are deleted with their history, and personal secrets with the secret or
 * their owner.
 */
const HAS_HISTORY = `case when trail.id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    then exists (select from secret_version v where v.secret_id = trail.id::uuid) else false end`;

const COMPARE = `with recursive ${TRAIL}, ${STORED}, compared as (
    select coalesce(stored.kind, 'secret') as kind, coalesce(stored.id, trail.id) as id, stored.version as "storedVersion",
      trail.version as "trailVersion",
      case
        when stored.id is null then case when trail.digest <> '' and ${HAS_HISTORY} then 'missing' end
        when trail.id is null then 'unknown'
        when trail.digest = '' then 'deleted'
        when trail.version <> stored.version then 'version'
        when trail.digest <> stored.digest then 'contents'
        else 'equal'
      end as verdict
    from stored full join trail on trail.id = stored.id
  )
  select * from (
    select *, count(*) over (partition by verdict)::integer as total, row_number() over (partition by verdict order by id) as place
    from compared where verdict is not null
  ) numbered where place <= $1 order by id`;
