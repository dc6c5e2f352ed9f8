// A write of many records and what follows from them: arrays of many columns, and writes within a query.
import { arrayOfHiddenLength } from '../database/plans.sql.js';

/** Which projects have changed with the events of a batch: none, those that are named, or all of the organization. */
export type AffectedProjects = 'nothing' | 'projects' | 'organization';

const COLUMNS = [
  'id',
  'organization_id',
  'project_id',
  'action',
  'outcome',
  'actor_kind',
  'actor_id',
  'token_id',
  'request_id',
  'address',
  'user_agent',
  'facts',
  'disclosed',
  'mac',
  'class',
  'subject_id',
] as const;
/** What a record is stored with: an array for each, in this order. */
export const RECORD_PARAMETERS = [...COLUMNS, 'kept_days'] as const;
/** Of the parameters. */
const TYPES = [
  ...['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'uuid', 'uuid', 'uuid'],
  ...['text', 'text', 'text', 'text', 'text', 'text', 'uuid', 'integer'],
];

/**
 * The month in which a row ends: the first day of the one after its last. A row whose month has no partition is kept for ever, so that
 * none is ever refused. Where there are no partitions, nothing of it is looked up.
 */
const EXPIRES_ON = `coalesce((
      select month.expires_on from audit_partition month
      where given.kept_days is distinct from 0 and month.expires_on = (date_trunc('month', (now() at time zone 'UTC') + make_interval(
        days => coalesce((select p.audit_logs_retention_days from project p where p.id = given.project_id), given.kept_days)))
        + interval '1 month')::date
    ), 'infinity')`;

const STORE = `insert into audit_record (${COLUMNS.join(', ')}, expires_on)
    select id, organization_id, project_id, action, outcome, actor_kind, actor_id, token_id, request_id, address::inet, user_agent, facts::jsonb,
      decode(disclosed, 'hex'), decode(mac, 'hex'), class, subject_id, ${EXPIRES_ON}
    from unnest(${TYPES.map((type, at) => arrayOfHiddenLength(`$${at + 1}`, type)).join(', ')}) as given (${RECORD_PARAMETERS.join(', ')})`;

/**
 * The insert of records of which some name lists.
 *
 * @param turn of the lists, a condition: for changes, after the rows of their projects, so that no two changes hold what the
 *   other one waits for. The lists are in one order, so that two batches with the same ones do not lock each other out.
 */
const storeWithLists = (turn: string): string => `missing as (
    select named.digest from unnest(${arrayOfHiddenLength('$13', 'text')}) as named (digest)
    where length(named.digest) = 64 and named.digest <> all (${arrayOfHiddenLength('$18', 'text')})
      and (select true from audit_disclosure d where d.digest = decode(named.digest, 'hex')) is null
  ), listed as (
    insert into audit_disclosure (digest, ids)
    select decode(digest, 'hex'), ids::uuid[]
    from unnest(${arrayOfHiddenLength('$18', 'text')}, ${arrayOfHiddenLength('$19', 'text')}) as list (digest, ids)
    where ${turn} order by digest on conflict do nothing
  ), stored as (
    ${STORE}
    where not exists (select from missing)
  )
  select digest from missing`;

/**
 * For changes the revisions of their projects rise with the insert, so that nobody forgets to. As part of the last statement
 * before the commit: the row of a project is held no longer than that takes. Many are held in the order of ids, so that two
 * changes cannot wait for each other.
 */
const CHANGED: Readonly<Record<Exclude<AffectedProjects, 'nothing'>, string>> = {
  projects: `with changed as (
      update project set revision = revision + 1 where id = any(${arrayOfHiddenLength('$3', 'uuid')}) returning 1
    )`,
  organization: `with locked as (
      select id from project where id = any($3::uuid[])
        or organization_id in (select id from organization where id = any($2::uuid[]) or parent_id = any($2::uuid[]))
      order by id for no key update
    ), changed as (
      update project set revision = revision + 1 from locked where project.id = locked.id returning 1
    )`,
};

const WITH_LISTS_OF_CHANGE = storeWithLists('(select count(*) >= 0 from changed)');

/** The insert of records of which none names a list. */
export const INSERTS: Readonly<Record<AffectedProjects, string>> = {
  nothing: STORE,
  projects: `${CHANGED.projects} ${STORE}`,
  organization: `${CHANGED.organization} ${STORE}`,
};
/** The same of records of which some do; then the names of lists, and the lists. */
export const INSERTS_WITH_LISTS: Readonly<Record<AffectedProjects, string>> = {
  nothing: `with ${storeWithLists('true')}`,
  projects: `${CHANGED.projects}, ${WITH_LISTS_OF_CHANGE}`,
  organization: `${CHANGED.organization}, ${WITH_LISTS_OF_CHANGE}`,
};
