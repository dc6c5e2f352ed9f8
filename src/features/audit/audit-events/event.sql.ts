import { sql } from 'kysely';
import { StoredAuditRecordSchema, type StoredDisclosureSchema } from '../../../kernel/audit/audit.entity.js';
import { READ_VERBS } from '../../../kernel/audit/audit-class.js';
import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import { rowsOf, withinBytes } from '../../../kernel/audit/audit-rows.sql.js';
import { type RowFrom, type SqlType, sqlStatement, sqlVariants, t } from '../../../kernel/database/statement.js';
import { columnNamesExcept, prepared, sqlColumnsOf, tablesOf } from '../../../kernel/database/tables.js';

// Pages of the trail, which walk one of its indexes for each filter and direction.

/** Rows that one page looks at. A filter that few rows pass has many pages, and no page takes long. */
const SCANNED_ROWS = 20_000;

/**
 * Rows are in the order of their numbers, and a time is found among the seals: a seal covers rows that are older than itself. What was
 * written meanwhile is no older than the longest transaction, which this pause outlasts by far.
 */
const SLACK = `interval '10 minutes'`;

const RECORDED = sqlColumnsOf(
  StoredAuditRecordSchema,
  'r',
  columnNamesExcept(StoredAuditRecordSchema, 'address', 'facts', 'mac', 'disclosed', 'expiresOn'),
);

/** The columns of a record `r`. @param facts SQL of those */
const columnsWith = (facts: string): string =>
  `${RECORDED.text}, host(r.address) as address, ${facts} as facts, encode(r.disclosed, 'hex') as disclosed`;

/** The columns of an event, of `r`. */
const EVENT_COLUMNS = columnsWith(`r.facts - 'states'`);

/** What they are. */
const EVENT_ROW = {
  ...RECORDED.row,
  address: t.nullable(t.text),
  facts: t.jsonOf<AuditFacts>(),
  disclosed: t.nullable(t.text),
} as const;

/** All rows from a time on, and some before it, have numbers above this one. */
const numberBefore = (time: string): string => `coalesce((
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
  requestId: `r.request_id = :requestId and ${WITHIN}`,
  subjectId: `r.subject_id = :subjectId and ${WITHIN}`,
  actorId: `${OWN} and r.actor_id = :actorId`,
  action: `${OWN} and r.action = :action`,
  projectId: 'r.project_id = :projectId',
  outcome: `${OWN} and r.outcome = 'denied' and :outcome::text = 'denied'`,
  organizationId: OWN,
} as const;

/** What decides which index a page is read by. */
export type PageIndex = keyof typeof LEADS;

/** A list by each index, in each direction. */
const OPTIONS = { lead: Object.keys(LEADS) as PageIndex[], direction: ['desc', 'asc'] } as const;

const FILTERED = {
  ...BOUNDS,
  requestId: t.nullable(t.uuid),
  subjectId: t.nullable(t.uuid),
  actorId: t.nullable(t.uuid),
  action: t.nullable(t.text),
  projectId: t.nullable(t.uuid),
  actorKind: t.nullable(t.text),
  actions: t.nullable(t.array(t.text)),
  outcome: t.nullable(t.text),
  class: t.nullable(t.text),
  within: t.nullable(t.uuid),
} as const;

/** The class of a row; of one that is older than classes as `recordedClass` finds it. */
const CLASS = `coalesce(r.class, case when r.outcome = 'denied' then 'denial' when r.action !~ '${READ_VERBS.source}' then 'change'
  when r.disclosed is null then 'browse' else 'value-read' end)`;

/** A page of events. */
export const listEvents = sqlVariants({
  options: OPTIONS,
  text: ({ lead, direction }) => `
      select ${EVENT_COLUMNS} from ${rowsOf(`${scanned(LEADS[lead], direction)} limit ${SCANNED_ROWS}`)}
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
  params: { ...FILTERED, limit: t.bigint, skip: t.bigint },
  row: EVENT_ROW,
});

/** An event as it is read. */
export type EventRow = RowFrom<typeof listEvents>;

/** Number of the last row that a page looks at. No row: it looked at all. */
export const findEndOfPage = sqlVariants({
  options: OPTIONS,
  text: ({ lead, direction }) =>
    `select r.sequence from ${rowsOf(`${scanned(LEADS[lead], direction)} offset ${SCANNED_ROWS - 1} limit 1`)} where ${OWN}`,
  params: FILTERED,
  row: { sequence: t.bigint },
});

/** Beyond this it does not matter how many there are. */
const MOST_COUNTED = 1_000;

/** What a page may be read by, and the condition under which it is asked for. */
const COUNTED = {
  subjectId: ':subjectId::uuid is not null',
  actorId: ':actorId::uuid is not null',
  action: ':action::text is not null',
  projectId: ':projectId::uuid is not null',
  outcome: `:outcome::text = 'denied'`,
} as const;
const COUNTS = Object.keys(COUNTED) as (keyof typeof COUNTED)[];

const { subjectId, actorId, action, projectId, outcome, within } = FILTERED;

/** How many rows a page can be read by, for each of what is given; null for what is not. */
export const countRows = sqlStatement({
  text: `select ${COUNTS.map(
    (lead) => `case when ${COUNTED[lead]} then (
    select count(*)::integer from (${scanned(LEADS[lead], 'desc')} limit ${MOST_COUNTED}) few) end as "${lead}"`,
  ).join(', ')}`,
  params: { ...BOUNDS, subjectId, actorId, action, projectId, outcome, within },
  row: Object.fromEntries(COUNTS.map((lead) => [lead, t.nullable(t.integer)])) as Record<
    (typeof COUNTS)[number],
    SqlType<number | null>
  >,
});

/** The secrets behind digests of disclosures, by digest: up to so many of each, or all. */
export const listDisclosed = prepared(({ digests, limit }: { digests: readonly Buffer[]; limit: number | null }) =>
  tablesOf<typeof StoredDisclosureSchema>()
    .selectFrom('audit_disclosure')
    .select([
      sql<string>`encode(digest, 'hex')`.as('digest'),
      sql<readonly string[]>`ids[1:coalesce(${limit}::integer, cardinality(ids))]`.as('ids'),
      sql<number>`cardinality(ids)`.as('count'),
    ])
    .where('digest', '=', sql<Buffer>`any(${digests}::bytea[])`)
    .orderBy('digest'),
);

// What changed in a project: materialized scans, each with its own limit.

/** What changes of a project are about. */
const CHANGE_GROUPS = ['secrets', 'roles', 'members', 'tokens', 'others'] as const;
export type ChangeGroup = (typeof CHANGE_GROUPS)[number];

/** What happens to tokens, and to the ways to get one. */
const TOKEN_ACTIONS = [
  ...['create', 'revoke', 'renew', 'rename'].map((verb) => `access-token:${verb}`),
  ...['create', 'revoke'].map((verb) => `client-secret:${verb}`),
  ...['identity-token-auth', 'identity-universal-auth', 'identity-oidc-auth', 'identity-kubernetes-auth'].flatMap(
    (noun) => ['attach', 'update', 'remove'].map((verb) => `${noun}:${verb}`),
  ),
];

/** Rows that are looked at for each of them. They are of all accounts of the organization. */
const SCANNED_TOKENS = 1_000;

/** A text that is an ID. */
const ID_PATTERN = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const TOKEN_ACTION_ROWS = TOKEN_ACTIONS.map((action) => `('${action}')`).join(', ');

/**
 * Changes of a project since a time, by what they are about, newest first and up to so many of each; and of tokens of its current
 * members. Changes of tokens belong to the organization, and are found by the accounts that they are of.
 */
export const listChanges = sqlStatement({
  text: `
    with scanned as materialized (
      select own.sequence, own.expires_on from audit_record own
      where own.class = 'change' and own.project_id = :projectId and own.sequence > ${numberBefore(':since')}
      order by own.sequence desc limit ${SCANNED_ROWS}
    ), members as materialized (
      select m.member_id::text as id from project_member_now m where :withTokens and m.project_id = :projectId
    ), tokens as materialized (
      select found.sequence, found.expires_on, found.occurred_at, found.outcome, found.action, found.facts ->> 'identityId' as identity_id,
        found.facts ->> 'userId' as user_id, (
          select coalesce(a.identity_id, a.user_id)::text from access_token a
          where a.id = case when found.facts ->> 'accessTokenId' ~ '${ID_PATTERN}' then (found.facts ->> 'accessTokenId')::uuid end) as owner_id
      from (values ${TOKEN_ACTION_ROWS}) as given (action) cross join lateral (
        select r.* from ${rowsOf(`
          select own.sequence, own.expires_on from audit_record own
          where own.organization_id = :organizationId and own.action = given.action and own.sequence > ${numberBefore(':since')}
          order by own.sequence desc limit ${SCANNED_TOKENS}`)}
      ) found
      where :withTokens
    ), changed as (
      select r.sequence, r.expires_on, case
          when r.action ~ '^(secret|secret-import|secret-rotation|folder|environment|tag):' then 'secrets'
          when r.action ~ '^project-role:' then 'roles'
          when r.action ~ '^(project-membership|additional-privilege):|^project:(rescue|revoke-rescue)$' then 'members'
          else 'others'
        end as "group"
      from ${rowsOf('select sequence, expires_on from scanned')} where r.organization_id = :organizationId and r.occurred_at >= :since
      union all
      select t.sequence, t.expires_on, 'tokens' from tokens t
      where t.occurred_at >= :since and t.outcome = 'allowed' and (t.identity_id in (select id from members)
        or t.user_id in (select id from members) or t.owner_id in (select id from members))
    ), placed as (
      select sequence, expires_on, "group", row_number() over (partition by "group" order by sequence desc) as place from changed
    )
    select looked."group", case looked."group"
        when 'tokens' then exists (select from tokens t group by t.action having count(*) = ${SCANNED_TOKENS})
        else (select count(*) from scanned) = ${SCANNED_ROWS}
      end as "isCut", ${EVENT_COLUMNS}
    from ${rowsOf('select sequence, expires_on, "group" from placed where place <= :limit::bigint')}
    order by r.sequence desc`,
  params: { organizationId: t.uuid, projectId: t.uuid, since: t.time, withTokens: t.boolean, limit: t.bigint },
  row: { group: t.oneOf(...CHANGE_GROUPS), isCut: t.boolean, ...EVENT_ROW },
});

// Who read a secret, and how an identity logged in: a page for each of many.

/** IDs, and for each the number of the record before which its page begins. */
const PAGES = {
  ids: t.array(t.uuid),
  befores: t.array(t.nullable(t.bigint)),
  organizationId: t.uuid,
  limit: t.bigint,
} as const;

/**
 * Events whose responses had the value of a secret, newest first: a page for each of many secrets, by their places from 1. They are
 * found by the ID of the secret and by the lists that it is in.
 */
export const listReads = sqlStatement({
  text: `
    select wanted.place::integer as place, ${EVENT_COLUMNS}
    from unnest(:ids::uuid[], :befores::bigint[]) with ordinality as wanted (id, before, place) cross join lateral (
      select found.* from (
        select decode(replace(wanted.id::text, '-', ''), 'hex') as name
        union all select d.digest from audit_disclosure d where d.ids @> array[wanted.id]
      ) names cross join lateral (
        select own.* from audit_record own
        where own.disclosed = names.name and coalesce(own.organization_id = :organizationId, false)
          and own.sequence < coalesce(wanted.before, 9223372036854775807)
        order by own.sequence desc limit :limit
      ) found
      order by found.sequence desc limit :limit
    ) r
    order by wanted.place, r.sequence desc`,
  params: PAGES,
  row: { place: t.integer, ...EVENT_ROW },
});

/**
 * Logins of machine identities, and their attempts, newest first: a page for each of many identities, by their places from 1. By an index
 * that has nothing else.
 */
export const listLogins = sqlStatement({
  text: `
    select wanted.place::integer as place, ${EVENT_COLUMNS}
    from unnest(:ids::uuid[], :befores::bigint[]) with ordinality as wanted (id, before, place) cross join lateral (
      select own.* from audit_record own
      where own.organization_id = :organizationId and own.actor_id = wanted.id
        and own.action in ('identity-universal-auth:login', 'identity-oidc-auth:login', 'identity-kubernetes-auth:login')
        and own.sequence < coalesce(wanted.before, 9223372036854775807)
      order by own.sequence desc limit :limit
    ) r
    order by wanted.place, r.sequence desc`,
  params: PAGES,
  row: { place: t.integer, ...EVENT_ROW },
});

// Exports: pages by bytes, through an index that has no other columns.

/**
 * Settled events of an organization, oldest first, as many of the first `limit` as have so many bytes; each with what it was recorded with:
 * nothing is derived or looked up, so that its line is the same for ever. Those of one project are read by its index, which does not have
 * the organization. All events of a project are of one organization, so that those of others leave nothing.
 */
export const exportEvents = sqlVariants({
  options: { owner: ['organization', 'project'] },
  text: ({ owner }) => `
    select r.found, ${columnsWith('r.facts')} from (${withinBytes(`
      select r.* from ${rowsOf(`
        select own.sequence, own.expires_on from audit_record own
        where own.${owner}_id = :${owner}Id and own.sequence > :after and own.sequence <= :settled
        order by own.sequence limit :limit`)}
      where r.organization_id = :organizationId order by looked.sequence`)}) r
    order by r.sequence`,
  params: {
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    after: t.bigint,
    settled: t.bigint,
    limit: t.bigint,
    bytes: t.bigint,
  },
  row: { found: t.integer, ...EVENT_ROW },
});

/** An event as it is exported. */
export type ExportedRow = RowFrom<typeof exportEvents>;
