// Pages of the trail, which walk one of its indexes for each filter and direction.
import { AUDIT_CLASSES, READS } from '../../kernel/audit/audit-class.js';
import type { AuditFacts } from '../../kernel/audit/audit-record.js';
import { rowsOf } from '../../kernel/audit/audit-rows.sql.js';
import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Rows that one page looks at. A filter that few rows pass has many pages, and no page takes long. */
export const SCANNED_ROWS = 20_000;

/**
 * Rows are in the order of their numbers, and a time is found among the seals: a seal covers rows that are older than itself. What was
 * written meanwhile is no older than the longest transaction, which this pause outlasts by far.
 */
const SLACK = `interval '10 minutes'`;

/** The columns of an event, of `r`. */
export const EVENT_COLUMNS = `r.sequence, r.id, r.organization_id as "organizationId", r.project_id as "projectId", r.occurred_at as "occurredAt",
  r.action, r.outcome, r.actor_kind as "actorKind", r.actor_id as "actorId", r.token_id as "tokenId", r.request_id as "requestId",
  host(r.address) as address, r.user_agent as "userAgent", r.facts - 'states' as facts, encode(r.disclosed, 'hex') as disclosed,
  r.class, r.subject_id as "subjectId"`;

/** What they are. */
export const EVENT_ROW = {
  sequence: t.bigint,
  id: t.uuid,
  organizationId: t.uuid,
  projectId: t.nullable(t.uuid),
  occurredAt: t.time,
  action: t.text,
  outcome: t.oneOf('allowed', 'denied'),
  actorKind: t.oneOf('identity', 'user', 'system'),
  actorId: t.uuid,
  tokenId: t.nullable(t.uuid),
  requestId: t.uuid,
  address: t.nullable(t.text),
  userAgent: t.nullable(t.text),
  facts: t.jsonOf<AuditFacts>(),
  disclosed: t.nullable(t.text),
  class: t.nullable(t.oneOf(...AUDIT_CLASSES)),
  subjectId: t.nullable(t.uuid),
} as const;

/** All rows from a time on, and some before it, have numbers above this one. */
export const numberBefore = (time: string): string => `coalesce((
  select s.last_sequence from audit_seal s where s.sealed_at < ${time}::timestamptz - ${SLACK} order by s.sealed_at desc limit 1), 0)`;

/** All rows before a time, and some after it, have numbers up to this one. */
const numberAfter = (time: string): string => `coalesce((
  select s.last_sequence from audit_seal s where s.sealed_at > ${time}::timestamptz + ${SLACK} order by s.sealed_at limit 1),
  9223372036854775807)`;

const OWN = 'r.organization_id = :organizationId';

/** A page that goes on from a cursor towards older events, or back towards newer ones. */
type Direction = 'desc' | 'asc';

/**
 * The numbers that a page looks at, in its order: those of the rows that have something, by an index that has them in this order. Only
 * numbers and partitions, so that the index has all that is asked for, and Postgres has no reason to look for the rows in the whole trail.
 *
 * @param lead what the rows have, in SQL
 */
const scanned = (lead: string, direction: Direction): string => `
  select r.sequence, r.expires_on from audit_record r
  where ${lead} and r.sequence < coalesce(:below::bigint, 9223372036854775807)
    and r.sequence > coalesce(:above::bigint, '-9223372036854775808')
    and r.sequence > ${numberBefore(':from')} and r.sequence <= ${numberAfter(':to')}
  order by r.sequence ${direction}`;

const BOUNDS = {
  organizationId: t.uuid,
  below: t.nullable(t.bigint),
  above: t.nullable(t.bigint),
  from: t.nullable(t.time),
  to: t.nullable(t.time),
} as const;

/** Whoever reads a project alone must not learn how much of this there is elsewhere. */
const WITHIN = '(:within::uuid is null or r.project_id = :within)';

/**
 * What few rows have, those that find the fewest first. Indexes without the organization are asked without it: rows of others are left
 * out behind them.
 */
const LEADS = {
  requestId: {
    condition: `r.request_id = :requestId and ${WITHIN}`,
    params: { requestId: t.uuid, within: t.nullable(t.uuid) },
  },
  subjectId: {
    condition: `r.subject_id = :subjectId and ${WITHIN}`,
    params: { subjectId: t.uuid, within: t.nullable(t.uuid) },
  },
  actorId: { condition: `${OWN} and r.actor_id = :actorId`, params: { actorId: t.uuid } },
  action: { condition: `${OWN} and r.action = :action`, params: { action: t.text } },
  projectId: { condition: 'r.project_id = :projectId', params: { projectId: t.uuid } },
  outcome: { condition: `${OWN} and r.outcome = 'denied' and :outcome::text = 'denied'`, params: { outcome: t.text } },
  organizationId: { condition: OWN, params: {} },
} as const;

/** What decides which index a page is read by. */
export type Lead = keyof typeof LEADS;

const FILTERS = {
  requestId: t.nullable(t.uuid),
  subjectId: t.nullable(t.uuid),
  actorId: t.nullable(t.uuid),
  action: t.nullable(t.text),
  projectId: t.nullable(t.uuid),
  actorKind: t.nullable(t.text),
  actions: t.nullable(t.array(t.text)),
  outcome: t.nullable(t.text),
  class: t.nullable(t.text),
} as const;

/** The class of a row; of one that is older than classes as `recordedClass` finds it. */
const CLASS = `coalesce(r.class, case when r.outcome = 'denied' then 'denial' when r.action !~ '${READS.source}' then 'change'
  when r.disclosed is null then 'browse' else 'value-read' end)`;

const pageBy = (lead: Lead, direction: Direction) =>
  sqlStatement({
    text: `
      select ${EVENT_COLUMNS} from ${rowsOf(`${scanned(LEADS[lead].condition, direction)} limit ${SCANNED_ROWS}`)}
      where ${OWN} and ${WITHIN} and (:projectId::uuid is null or r.project_id = :projectId)
        and (:actorId::uuid is null or r.actor_id = :actorId)
        and (:subjectId::uuid is null or r.subject_id = :subjectId)
        and (:requestId::uuid is null or r.request_id = :requestId)
        and (:actorKind::text is null or r.actor_kind = :actorKind)
        and (:action::text is null or r.action = :action)
        and (:actions::text[] is null or r.action = any(:actions))
        and (:outcome::text is null or r.outcome = :outcome)
        and (:class::text is null or ${CLASS} = :class)
        and (:from::timestamptz is null or r.occurred_at >= :from)
        and (:to::timestamptz is null or r.occurred_at < :to)
      order by looked.sequence ${direction} limit :limit offset :skip`,
    params: {
      ...BOUNDS,
      ...FILTERS,
      within: t.nullable(t.uuid),
      limit: t.bigint,
      skip: t.bigint,
    },
    row: EVENT_ROW,
  });

/** Number of the last row that a page looks at. No row: it looked at all. */
const endBy = (lead: Lead, direction: Direction) =>
  sqlStatement({
    text: `select r.sequence from ${rowsOf(`${scanned(LEADS[lead].condition, direction)} offset ${SCANNED_ROWS - 1} limit 1`)} where ${OWN}`,
    params: { ...BOUNDS, ...LEADS[lead].params },
    row: { sequence: t.bigint },
  });

/** Beyond this it does not matter how many there are. */
const MOST_COUNTED = 1_000;

const counted = (lead: Lead, given: string): string => `case when ${given} then (
  select count(*)::integer from (${scanned(LEADS[lead].condition, 'desc')} limit ${MOST_COUNTED}) few) end`;

/** How many rows a page can be read by, for each of what is given; null for what is not. */
export const COUNT_ROWS = sqlStatement({
  text: `select ${counted('subjectId', ':subjectId::uuid is not null')} as "subjectId",
    ${counted('actorId', ':actorId::uuid is not null')} as "actorId", ${counted('action', ':action::text is not null')} as "action",
    ${counted('projectId', ':projectId::uuid is not null')} as "projectId", ${counted('outcome', `:outcome::text = 'denied'`)} as "outcome"`,
  params: {
    ...BOUNDS,
    subjectId: t.nullable(t.uuid),
    actorId: t.nullable(t.uuid),
    action: t.nullable(t.text),
    projectId: t.nullable(t.uuid),
    outcome: t.nullable(t.text),
    within: t.nullable(t.uuid),
  },
  row: {
    subjectId: t.nullable(t.integer),
    actorId: t.nullable(t.integer),
    action: t.nullable(t.integer),
    projectId: t.nullable(t.integer),
    outcome: t.nullable(t.integer),
  },
});

// Written out, so that the test of statements finds each.
export const LIST_ALL = pageBy('organizationId', 'desc');
export const LIST_OF_REQUEST = pageBy('requestId', 'desc');
export const LIST_OF_SUBJECT = pageBy('subjectId', 'desc');
export const LIST_OF_ACTOR = pageBy('actorId', 'desc');
export const LIST_OF_ACTION = pageBy('action', 'desc');
export const LIST_OF_PROJECT = pageBy('projectId', 'desc');
export const LIST_DENIED = pageBy('outcome', 'desc');
export const END_OF_ALL = endBy('organizationId', 'desc');
export const END_OF_REQUEST = endBy('requestId', 'desc');
export const END_OF_SUBJECT = endBy('subjectId', 'desc');
export const END_OF_ACTOR = endBy('actorId', 'desc');
export const END_OF_ACTION = endBy('action', 'desc');
export const END_OF_PROJECT = endBy('projectId', 'desc');
export const END_OF_DENIED = endBy('outcome', 'desc');
export const BACK_ALL = pageBy('organizationId', 'asc');
export const BACK_OF_REQUEST = pageBy('requestId', 'asc');
export const BACK_OF_SUBJECT = pageBy('subjectId', 'asc');
export const BACK_OF_ACTOR = pageBy('actorId', 'asc');
export const BACK_OF_ACTION = pageBy('action', 'asc');
export const BACK_OF_PROJECT = pageBy('projectId', 'asc');
export const BACK_DENIED = pageBy('outcome', 'asc');
export const TOP_OF_ALL = endBy('organizationId', 'asc');
export const TOP_OF_REQUEST = endBy('requestId', 'asc');
export const TOP_OF_SUBJECT = endBy('subjectId', 'asc');
export const TOP_OF_ACTOR = endBy('actorId', 'asc');
export const TOP_OF_ACTION = endBy('action', 'asc');
export const TOP_OF_PROJECT = endBy('projectId', 'asc');
export const TOP_OF_DENIED = endBy('outcome', 'asc');

/** The page of a list by each index, and where it ends; and the same of a page that goes back. */
export const BY_LEAD = {
  requestId: { list: LIST_OF_REQUEST, end: END_OF_REQUEST, back: BACK_OF_REQUEST, top: TOP_OF_REQUEST },
  subjectId: { list: LIST_OF_SUBJECT, end: END_OF_SUBJECT, back: BACK_OF_SUBJECT, top: TOP_OF_SUBJECT },
  actorId: { list: LIST_OF_ACTOR, end: END_OF_ACTOR, back: BACK_OF_ACTOR, top: TOP_OF_ACTOR },
  action: { list: LIST_OF_ACTION, end: END_OF_ACTION, back: BACK_OF_ACTION, top: TOP_OF_ACTION },
  projectId: { list: LIST_OF_PROJECT, end: END_OF_PROJECT, back: BACK_OF_PROJECT, top: TOP_OF_PROJECT },
  outcome: { list: LIST_DENIED, end: END_OF_DENIED, back: BACK_DENIED, top: TOP_OF_DENIED },
  organizationId: { list: LIST_ALL, end: END_OF_ALL, back: BACK_ALL, top: TOP_OF_ALL },
} as const satisfies Record<Lead, object>;

/** An event as it is read. */
export type EventRow = Awaited<ReturnType<typeof LIST_ALL>>[number];

/** The secrets behind digests of disclosures, up to so many of each. */
export const LIST_DISCLOSED = sqlStatement({
  text: `
    select encode(d.digest, 'hex') as digest, d.ids[1:(:limit::integer)] as ids, cardinality(d.ids) as count from audit_disclosure d
    where d.digest = any(array(select decode(given.digest, 'hex') from unnest(:digests::text[]) as given (digest)))`,
  params: { digests: t.array(t.text), limit: t.integer },
  row: { digest: t.text, ids: t.array(t.uuid), count: t.integer },
});
