// Certificates and authorities in one list, searches from JSON, and intervals between columns.
import { sqlStatement, t } from '../../kernel/database/statement.js';
import type { AlertFilter } from '../alerts/public.js';

const EVENT = t.oneOf('expiration', 'renewal', 'issuance', 'revocation');

/** The day of a daily reminder; null for an alert that notifies once. */
const TODAY = `case when a.is_daily_reminder then to_char(now() at time zone 'UTC', 'YYYY-MM-DD') end`;

/** Messages of an alert `a` about events of late that were not accepted: nothing else finds what they are about. */
const UNSENT_OF_EVENTS = `notification_message m where m.owner_id = a.id and m.event = a.event_type and m.state <> 'sent'
      and m.state <> 'pending' and m.created_at > now() - make_interval(days => :days::integer)`;

/** Certificates of the inventory that these messages are about, by ID. */
export const listUnsentSubjects = sqlStatement({
  text: `
    select distinct c.id from certificate_alert a cross join lateral (select m.id from ${UNSENT_OF_EVENTS}) unsent
      join notification_delivery d on d.message_id = unsent.id join certificate c on c.id = d.subject_id
    where a.id = :alertId and c.id > :after order by c.id limit :most::integer`,
  params: { alertId: t.uuid, days: t.integer, after: t.uuid, most: t.integer },
  row: { id: t.uuid },
});

/** Subjects of alerts, as `c`: certificates of the inventory and of authorities. Disabled authorities need no alert. */
export const SUBJECT = `(
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
export const SUPERSEDED = `(${RENEWED('c')}
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

const COLUMNS = `c.id, c.project_id as "projectId", c.common_name as "commonName", c.profile_slug as "profileName", c.is_ca as "isCa",
      c.is_authority as "isAuthority", c.serial_number as "serialNumber", c.not_before as "notBefore", c.not_after as "notAfter"`;
const ROW = {
  id: t.uuid,
  projectId: t.uuid,
  commonName: t.text,
  profileName: t.nullable(t.text),
  isCa: t.boolean,
  isAuthority: t.boolean,
  serialNumber: t.text,
  notBefore: t.time,
  notAfter: t.time,
  sans: t.array(t.text),
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
      select ${COLUMNS}, case when w."withSans" then c.sans else c.sans[1:100] end as sans from ${SUBJECT}
      where c.project_id = w."projectId" and c.status = 'active' and c.not_after > now()
        and c.not_after <= w."upTo" and (w.within is null or not ${SUPERSEDED})
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
  row: { place: t.integer, ...ROW },
});

/** A certificate that an alert may be about. */
export type Subject = Omit<Awaited<ReturnType<typeof listSubjects>>[number], 'place'>;

/** Certificates of the inventory and of authorities by ID, in any project. */
export const findSubjects = sqlStatement({
  text: `select ${COLUMNS}, c.sans from ${SUBJECT} where c.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: ROW,
});

/** All alerts of the project of a certificate, newest first, each with its verdict before filters. `:limit` null: all. */
export const listStandings = sqlStatement({
  text: `
    select a.id, a.filters, a.event_type as "eventType", a.is_enabled as "isEnabled", a.created_at as "createdAt", ${TODAY} as today,
      exists (select from certificate_alert_channel h where h.alert_id = a.id and h.is_enabled) as "hasChannel",
      c.status, c.not_after <= now() as "isExpired", ${BEGINS} as "beginsAt", ${SUPERSEDED} as "isSuperseded"
    from certificate_alert a join ${SUBJECT} on c.project_id = a.project_id
    where c.id = :certificateId and (:time::text is null or (a.created_at, a.id) < (:time::text::timestamptz, :afterId::uuid))
    order by a.created_at desc, a.id desc limit :limit::integer`,
  params: {
    certificateId: t.uuid,
    time: t.nullable(t.text),
    afterId: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: {
    id: t.uuid,
    filters: t.jsonOf<readonly AlertFilter[]>(),
    eventType: EVENT,
    isEnabled: t.boolean,
    createdAt: t.time,
    today: t.nullable(t.text),
    hasChannel: t.boolean,
    status: t.oneOf('active', 'revoked', 'disabled'),
    isExpired: t.boolean,
    beginsAt: t.nullable(t.time),
    isSuperseded: t.boolean,
  },
});

/** The verdict of an alert on a certificate, before filters. */
export type Standing = Awaited<ReturnType<typeof listStandings>>[number];
