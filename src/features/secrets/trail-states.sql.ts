import type { AuditEvent } from '../../kernel/audit/audit-record.js';
import type { Context } from '../../kernel/context.js';
import type { Query } from '../../kernel/database/database.js';
import { type RowFrom, sqlStatement, t } from '../../kernel/database/statement.js';
import { personalDigest, secretDigest } from './core/secret-states.js';

// A comparison: the whole audit trail against all secrets, in one recursive statement of the database.

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
    then exists (select from secret_version v where v.secret_id = (select trail.id::uuid)) else false end`;

/**
 * Each secret and personal secret beside its latest version in the audit trail, with what differs; the first of each verdict, and the
 * `total` of it. One statement in the database: neither the rows nor the trail are read into memory. It trusts the rows of the trail.
 */
export const compareAll = sqlStatement({
  text: `with recursive ${TRAIL}, ${STORED}, compared as (
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
  ) numbered where place <= :limit::integer order by id`,
  params: { limit: t.integer },
  row: {
    kind: t.text,
    id: t.text,
    storedVersion: t.nullable(t.integer),
    trailVersion: t.nullable(t.integer),
    verdict: t.oneOf('equal', 'unknown', 'version', 'contents', 'deleted', 'missing'),
    total: t.integer,
    place: t.bigint,
  },
});

/** A secret, compared with the trail. */
type Compared = RowFrom<typeof compareAll>;

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

/**
 * Compares each secret and personal secret with its latest version in the audit trail. One statement in the database:
 * neither the rows nor the trail are read into memory. It trusts the rows of the trail; that they are genuine is
 * checked separately.
 *
 * @param limit how many differences of a kind are described
 */
export async function compareWithTrail(query: Query, limit: number): Promise<TrailComparison> {
  const compared = await compareAll(query, { limit });
  const totalOf = (verdict: Compared['verdict']): number => compared.find((row) => row.verdict === verdict)?.total ?? 0;
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

// What is kept: states of secrets in JSON of the audit trail, picked out by the database, so that no record is read into memory.

/**
 * States of secrets in records that are about to be dropped, as far as `verify-audit` still needs them: of secrets that have not been
 * written since, and of those that are deleted while their history is kept.
 */
export const listStatesToRerecord = sqlStatement({
  text: `
    with given as materialized (
      select r.organization_id, state,
        case when split_part(state, ':', 1) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then split_part(state, ':', 1)::uuid end as id,
        case when split_part(state, ':', 2) ~ '^[1-9][0-9]{0,8}$' then split_part(state, ':', 2)::integer end as version
      from audit_record r,
        jsonb_array_elements_text(case jsonb_typeof(r.facts->'states') when 'array' then r.facts->'states' else '[]' end) state
      where r.expires_on = to_date(:month, 'YYYY-MM-DD') and r.sequence > :after and r.sequence <= :upTo and r.facts ? 'states'
    )
    select given.organization_id as "organizationId", array_agg(distinct given.state) as states
    from given left join secret s on s.id = given.id left join personal_secret p on p.id = given.id
    where case when s.id is null and p.id is null then exists (select from secret_version v where v.secret_id = given.id offset 0)
      else coalesce(s.version, p.version) <= given.version end
    group by given.organization_id`,
  params: { month: t.text, after: t.bigint, upTo: t.bigint },
  row: { organizationId: t.uuid, states: t.array(t.text) },
});

/** So many states make a record of a megabyte. */
const STATES_A_RECORD = 10_000;

/** Rows of a month of the trail, above one sequence and up to another. */
interface EndingRows {
  /** `2027-01-01` */
  readonly month: string;
  readonly after: string;
  readonly upTo: string;
}

/**
 * What is recorded anew of rows of the trail that are about to be dropped: the states of secrets that `verify-audit` still compares
 * them with.
 */
export async function rerecordStates(
  ctx: Context,
  rows: EndingRows,
): Promise<{ readonly organizationId: string; readonly events: readonly AuditEvent[] }[]> {
  const kept = await listStatesToRerecord(ctx, rows);
  return kept.map(({ organizationId, states }) => ({
    organizationId,
    events: Array.from({ length: Math.ceil(states.length / STATES_A_RECORD) }, (_, part) => ({
      action: 'audit-trail:keep-states',
      facts: { month: rows.month, states: states.slice(part * STATES_A_RECORD, (part + 1) * STATES_A_RECORD) },
      isKept: true,
    })),
  }));
}
