import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import { sqlColumnsOf } from '../../../kernel/database/tables.js';
import { CertificateSchema } from '../../certificates/public.js';
import { CertificateAlertSchema } from '../alerts/public.js';
import { enabledChannelOf, retryMessagesBy } from '../deliveries/public.js';
import { SOURCE } from './alert-delivery.queries.js';

// What alerts match: certificates and authorities in one list, searches from JSON, and intervals between columns.

/** The day of a daily reminder of an alert `a`; null for an alert that notifies once. */
const TODAY = `case when a.is_daily_reminder then to_char(now() at time zone 'UTC', 'YYYY-MM-DD') end`;

/** Subjects of alerts, as `c`: certificates of the inventory and of authorities. Disabled authorities need no alert. */
export const ALERT_SUBJECTS = `(
      select id, project_id, profile_id, lineage_id, created_at, names_digest, common_name, sans, profile_slug, is_ca, serial_number, not_before,
        not_after, status,
        false as is_authority
      from certificate
      union all
      select id, project_id, null::uuid, null::uuid, created_at, null::bytea, common_name, '{}'::text[], null::text, true, serial_number, not_before,
        not_after,
        case when status = 'disabled' then 'disabled' else 'active' end, true
      from certificate_authority where certificate is not null) c`;

/** Whether a valid certificate is a later one of the lineage of `of`, whichever ends first: renewals may be shorter. */
const RENEWED = (of: 'c' | 'n'): string => `exists (select from certificate r where r.lineage_id = ${of}.lineage_id
        and r.project_id = ${of}.project_id and r.status = 'active' and r.not_before <= now() and r.not_after > now()
        and (r.renewed_from_id = ${of}.id or r.created_at > ${of}.created_at))`;

/**
 * Whether another certificate has replaced `c`: a renewal (or what was imported as one), or a later one of the same profile and names
 * that is not renewed itself, so that no two replace each other. Of profiles that are deleted the slug is left. Names alone prove nothing:
 * anybody can import a certificate with them. `is false` keeps the planner from joining what is needed for few rows.
 */
export const IS_SUPERSEDED = `(${RENEWED('c')}
      or exists (select from certificate n where n.project_id = c.project_id and n.names_digest = c.names_digest
        and coalesce(n.profile_id::text, n.profile_slug) = coalesce(c.profile_id::text, c.profile_slug) and n.status = 'active'
        and n.not_after > c.not_after and n.not_before <= now() and ${RENEWED('n')} is false))`;

/** `alert_before` as an interval. */
const PERIOD = `(left(a.alert_before, -1)::integer * case right(a.alert_before, 1)
        when 'd' then interval '1 day' when 'w' then interval '1 week' when 'm' then interval '1 month' else interval '1 year' end)`;

/**
 * When a certificate begins to expire within the period of an alert; null if it does already. Subtracting a month is rounded up to the
 * next day where a month has no such day: for March 31 it starts on March 1, because February 28 plus one month is before March 31.
 */
const BEGINS = `case when c.not_after <= now() + ${PERIOD} then null when c.not_after - ${PERIOD} + ${PERIOD} < c.not_after
        then date_trunc('day', c.not_after - ${PERIOD}) + interval '1 day' else c.not_after - ${PERIOD} end`;

const COLUMNS = sqlColumnsOf(CertificateSchema, 'c', ['id', 'commonName', 'serialNumber', 'notBefore', 'notAfter']);

/** What notifications say of a subject `c`, but for its alternative names. */
export const NOTIFIED_COLUMNS = {
  text: `${COLUMNS.text}, c.profile_slug as "profileName"`,
  row: { ...COLUMNS.row, profileName: t.nullable(t.text), sans: t.array(t.text) },
};
const FOUND = {
  text: `${NOTIFIED_COLUMNS.text}, c.project_id as "projectId", c.is_ca as "isCa", c.is_authority as "isAuthority"`,
  row: { ...NOTIFIED_COLUMNS.row, projectId: t.uuid, isCa: t.boolean, isAuthority: t.boolean },
};

/** For non-ASCII names, Postgres and Node may disagree on case folding, so such names pass the prefilter. */
const LIKE = (name: string, patterns: string): string =>
  `(${name} ilike all(${patterns}) or ${name} ~ '[^\\x01-\\x7f]')`;

/**
 * For each search, the next certificates of its project that are neither revoked nor expired, by expiration; see `Search`. If the search
 * has a period, only those that expire within it and are not superseded. Without `withSans`, at most 100 names of each are read.
 */
export const listSubjects = sqlStatement({
  text: `
    select w.place, found.* from (
      select s.*, now() + coalesce(s.within, interval '20000 years') as "upTo"
      from jsonb_to_recordset(:searches::text::jsonb) as s (place integer, "projectId" uuid, within interval,
        "includeCas" boolean, "commonNameEquals" text[], "commonNameLike" text[], "profileEquals" text[], "profileLike" text[],
        "sanEquals" text[], "sanLike" text[], "afterTime" timestamptz, "afterId" uuid, "withSans" boolean) offset 0) w
    cross join lateral (
      select ${FOUND.text}, case when w."withSans" then c.sans else c.sans[1:100] end as sans from ${ALERT_SUBJECTS}
      where c.project_id = w."projectId" and c.status = 'active' and c.not_after > now()
        and c.not_after <= w."upTo" and (w.within is null or not ${IS_SUPERSEDED})
        and (c.not_after, c.id) > (w."afterTime", w."afterId")
        and (w."includeCas" or not c.is_ca)
        and c.common_name = all(w."commonNameEquals") and ${LIKE('c.common_name', 'w."commonNameLike"')}
        and (cardinality(w."profileEquals") + cardinality(w."profileLike") = 0
          or c.profile_slug = all(w."profileEquals") and ${LIKE('c.profile_slug', 'w."profileLike"')})
        and c.sans @> w."sanEquals"
        and not exists (select from unnest(w."sanLike") as p (pattern)
          where not exists (select from unnest(c.sans) as s (san) where ${LIKE('s.san', 'array[p.pattern]')}))
      order by c.not_after, c.id limit :most::integer) found
    order by w.place, found."notAfter", found.id`,
  params: { searches: t.text, most: t.integer },
  row: { place: t.integer, ...FOUND.row },
});

/** Certificates of the inventory and of authorities by ID, in any project. */
export const findSubjects = sqlStatement({
  text: `select ${FOUND.text}, c.sans from ${ALERT_SUBJECTS} where c.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: FOUND.row,
});

/** A certificate that an alert may be about. */
export type Subject = RowFrom<typeof findSubjects>;

const ALERT = sqlColumnsOf(CertificateAlertSchema, 'a', ['id', 'filters', 'eventType', 'isEnabled', 'createdAt']);

/** All alerts of the project of a certificate, newest first, each with its verdict before filters. `:limit` null: all. */
export const listAlertStates = sqlStatement({
  text: `
    select ${ALERT.text}, ${TODAY} as today,
      exists (select from certificate_alert_channel h where h.alert_id = a.id and h.is_enabled) as "hasChannel",
      c.status, c.not_after <= now() as "isExpired", ${BEGINS} as "beginsAt", ${IS_SUPERSEDED} as "isSuperseded"
    from certificate_alert a join ${ALERT_SUBJECTS} on c.project_id = a.project_id
    where c.id = :certificateId and (:time::text is null or (a.created_at, a.id) < (:time::text::timestamptz, :afterId::uuid))
    order by a.created_at desc, a.id desc limit :limit::integer`,
  params: {
    certificateId: t.uuid,
    time: t.nullable(t.text),
    afterId: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: {
    ...ALERT.row,
    today: t.nullable(t.text),
    hasChannel: t.boolean,
    status: t.oneOf('active', 'revoked', 'disabled'),
    isExpired: t.boolean,
    beginsAt: t.nullable(t.time),
    isSuperseded: t.boolean,
  },
});

/** The verdict of an alert on a certificate, before filters. */
export type AlertState = RowFrom<typeof listAlertStates>;

// What became of alerts: their messages, and figures of many alerts by lateral joins.

/** Retries messages of the alerts of a project. */
export const retryMessages = retryMessagesBy('project_id', SOURCE, enabledChannelOf('certificate_alert'));

/**
 * The certificates of a message, soonest expiration first, each with its first hundred names. Of those that expire, the ones that are
 * neither revoked nor replaced.
 */
export const listMessageCertificates = sqlStatement({
  text: `
    select ${NOTIFIED_COLUMNS.text}, c.sans[1:100] as sans, c.status,
      floor(extract(epoch from c.not_after - now()) / 86400)::integer as "daysLeft"
    from notification_message m cross join ${ALERT_SUBJECTS}
    where m.id = :messageId and c.id = any(array(select subject_id from notification_delivery where message_id = :messageId))
      and (m.event <> 'expiration' or c.status = 'active' and ${IS_SUPERSEDED} is false)
    order by c.not_after, c.id`,
  params: { messageId: t.uuid },
  row: { ...NOTIFIED_COLUMNS.row, status: t.text, daysLeft: t.integer },
});

/** Stores the result of a test of channels: null if all targets accepted it. */
export const storeTests = sqlStatement({
  text: `
    update certificate_alert_channel c set tested_at = now(), test_error_code = given.error_code
    from unnest(:channelIds::uuid[], :versions::integer[], :errorCodes::text[]) as given (id, version, error_code)
    where c.id = given.id and c.config_version = given.version`,
  params: { channelIds: t.array(t.uuid), versions: t.array(t.integer), errorCodes: t.array(t.nullable(t.text)) },
  row: {},
});

/**
 * The last run of each alert and its result. Alerts that never ran have no row. A message with nothing left to notify of counts as no
 * failure.
 */
export const listLastRuns = sqlStatement({
  text: `
    select wanted.id as "alertId", last.at as "timestamp", run.status, run."errorCode", run."messageCount", run."sentCount"
    from unnest(:alertIds::uuid[]) as wanted (id)
      cross join lateral (select max(found_at) as at from notification_message where owner_id = wanted.id) last
      cross join lateral (
        select case when bool_or(is_failed) then 'failed' when bool_or(state = 'pending') then 'pending' else 'success' end as status,
          coalesce(min(error_code) filter (where is_failed), min(error_code)) as "errorCode",
          count(*)::integer as "messageCount", count(*) filter (where state = 'sent')::integer as "sentCount"
        from (
          select state, error_code,
            state = 'failed' or state = 'cancelled' and error_code is distinct from 'CERTIFICATES_REMOVED' as is_failed
          from notification_message where owner_id = wanted.id and found_at = last.at) m) run
    where last.at is not null`,
  params: { alertIds: t.array(t.uuid) },
  row: {
    alertId: t.uuid,
    timestamp: t.time,
    status: t.oneOf('pending', 'success', 'failed'),
    errorCode: t.nullable(t.text),
    messageCount: t.integer,
    sentCount: t.integer,
  },
});

/** The last run of an alert. */
export type RunRow = RowFrom<typeof listLastRuns>;
