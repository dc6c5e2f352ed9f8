import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import { personalDigest, secretDigest } from '../core/secret-states.js';

// The whole audit trail against all secrets, in one recursive statement of the database.

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
export type Compared = RowFrom<typeof compareAll>;

// States of secrets in JSON of the audit trail, picked out by the database: no record is read into memory.

/**
 * States of secrets in records that are about to be dropped, as far as `verify-audit` still needs them: of secrets that have not been
 * written since, and of those that are deleted while their history is kept.
 */
export const listKeptStates = sqlStatement({
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
