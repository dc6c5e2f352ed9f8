import { arrayOfHiddenLength } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, sqlVariants, t } from '../../../kernel/database/statement.js';
import { NO_ID } from '../../../kernel/ids.js';
import { retryMessagesBy, unsentOwners } from '../deliveries/public.js';
import { CHANNEL_TYPES } from '../sending/public.js';
import { SOURCE } from './notice.queries.js';

// Writes of many notices, walks of an index from owner to owner, and unions of channels and people.

/** A project or organization that has notices. */
const NOTICE_OWNER = { organizationId: t.uuid, projectId: t.nullable(t.uuid), ownerId: t.uuid } as const;

/** Writes notices of a kind, except those that exist, and returns the owners of new ones. @param given a select of their columns */
const insertingNotices = (given: string): string => `
  with written as (
    insert into notice (id, organization_id, project_id, owner_id, kind, subject_id, occurrence, facts)
    select gen_random_uuid(), n.organization_id, n.project_id, coalesce(n.project_id, n.organization_id), :kind, n.subject_id, n.occurrence,
      n.facts
    from (${given}) as n (organization_id, project_id, subject_id, occurrence, facts)
    on conflict do nothing
    returning organization_id, project_id, owner_id
  )
  select distinct organization_id as "organizationId", project_id as "projectId", owner_id as "ownerId" from written`;

/** Writes notices, except those that exist. @returns the owners of new notices */
export const insertNotices = sqlStatement({
  text: insertingNotices(`
    select organization_id, project_id, subject_id, occurrence, facts::jsonb
    from unnest(:organizationIds::uuid[], :projectIds::uuid[], :subjectIds::uuid[], :occurrences::text[], :facts::text[])
      as g (organization_id, project_id, subject_id, occurrence, facts)`),
  params: {
    kind: t.text,
    organizationIds: t.array(t.uuid),
    projectIds: t.array(t.nullable(t.uuid)),
    subjectIds: t.array(t.uuid),
    occurrences: t.array(t.text),
    facts: t.array(t.text),
  },
  row: NOTICE_OWNER,
});

/** Owners of notices that have had no messages for so many seconds, one at a time by index however many notices there are. */
export const listOwnersWithUnsentNotices = sqlStatement({
  text: `
    with recursive owner as (
      (select owner_id as id from notice where told_at is null order by owner_id limit 1)
      union all
      select (select n.owner_id from notice n where n.told_at is null and n.owner_id > owner.id order by n.owner_id limit 1)
      from owner where owner.id is not null
    )
    select oldest.organization_id as "organizationId", oldest.project_id as "projectId", owner.id as "ownerId"
    from owner cross join lateral (
      select n.organization_id, n.project_id, n.created_at from notice n
      where n.owner_id = owner.id and n.told_at is null order by n.created_at, n.id limit 1
    ) oldest
    where oldest.created_at < now() - make_interval(secs => :seconds)`,
  params: { seconds: t.double },
  row: NOTICE_OWNER,
});

/** Owners of notices of the last days with messages that were not accepted. */
export const listUnsentOwners = sqlStatement({
  text: `${unsentOwners(`'${NO_ID}'`)}
    select unsent.organization_id as "organizationId", unsent.project_id as "projectId", owner.id as "ownerId"
    from owner cross join lateral (
      select m.organization_id, m.project_id from notification_message m
      where m.owner_id = owner.id and m.source = '${SOURCE}' and m.state <> 'sent' and m.state <> 'pending'
        and m.created_at > now() - make_interval(days => :days::integer) limit 1) unsent`,
  params: { days: t.integer },
  row: NOTICE_OWNER,
});

/**
 * A channel, for sending. The people of a project or organization count as a channel with its ID, for which `configSealed` and `name` are
 * null.
 */
export const findNoticeSender = sqlStatement({
  text: `
    select s.id, s.organization_id as "organizationId", s.project_id as "projectId", s.channel_type as "channelType",
      s.config_sealed as "configSealed", s.config_version as "configVersion", s.is_enabled as "isEnabled", s.name, s.owner_name as "ownerName"
    from (
      select c.id, c.organization_id, c.project_id, c.channel_type, c.config_sealed, c.config_version, c.is_enabled, c.name, p.name as owner_name
      from notification_channel c join project p on p.id = c.project_id where c.id = :channelId
      union all
      select id, organization_id, id, 'email', null, 0, true, null, name from project where id = :channelId
      union all
      select id, id, null, 'email', null, 0, true, null, name from organization where id = :channelId) s`,
  params: { channelId: t.uuid },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    channelType: t.oneOf(...CHANNEL_TYPES),
    configSealed: t.nullable(t.bytea),
    configVersion: t.integer,
    isEnabled: t.boolean,
    name: t.nullable(t.text),
    ownerName: t.text,
  },
});

/** The channel of a message `m` while it is enabled. The people of a project are a channel as long as the project exists. */
const ENABLED = `
  select from notification_channel c where c.id = m.channel_id and c.is_enabled
  union all select from project p where p.id = m.channel_id
  union all select from organization o where o.id = m.channel_id`;

/** Retries messages of the notices of a project. */
export const retryNotices = retryMessagesBy('project_id', SOURCE, ENABLED);

/** Admins of a project or organization, and those of these users who are members of it; null: those whom its pending notices name. */
export const listPeople = sqlStatement({
  text: `
    select distinct u.id, u.username, m.is_admin as "isAdmin"
    from (
      select member_id, 'admin' = any(roles) as is_admin from project_member_now where project_id = :ownerId
      union all select member_id, role = 'admin' from organization_member_now where organization_id = :ownerId
    ) m join app_user u on u.id = m.member_id
    where m.is_admin or u.id = any(coalesce(:userIds::uuid[], array(
      select jsonb_array_elements_text(n.facts -> 'recipientIds')::uuid
      from notification_message s join notification_delivery d on d.message_id = s.id join notice n on n.id = d.subject_id
      where s.channel_id = :ownerId and s.next_at is not null)))
    order by u.username, u.id`,
  params: { ownerId: t.uuid, userIds: t.nullable(t.array(t.uuid)) },
  row: { id: t.uuid, username: t.text, isAdmin: t.boolean },
});

/**
 * Takes due reminders, the longest overdue first, and moves each to its next due date: whole periods later, in the future. Skips
 * reminders locked by another node.
 */
export const advanceDueReminders = sqlStatement({
  text: `
    with due as materialized (
      select secret_id, due_at from secret_reminder where due_at <= now() order by due_at, secret_id limit :most::integer
      for update skip locked
    ), moved as (
      update secret_reminder r set due_at = (due.due_at at time zone 'UTC' + make_interval(days => s.reminder_repeat_days
        * (1 + floor(extract(epoch from now() - due.due_at) / 86400 / s.reminder_repeat_days))::integer)) at time zone 'UTC'
      from due join secret s on s.id = due.secret_id where r.secret_id = due.secret_id
    )
    select s.id, s.organization_id as "organizationId", s.project_id as "projectId", s.key, s.reminder_note as note,
      s.reminder_recipient_ids as "recipientIds", e.slug as environment, f.path, to_char(due.due_at at time zone 'UTC', 'YYYY-MM-DD') as day
    from due join secret s on s.id = due.secret_id join environment e on e.id = s.environment_id join folder f on f.id = s.folder_id`,
  params: { most: t.integer },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    key: t.text,
    note: t.nullable(t.text),
    recipientIds: t.array(t.uuid),
    environment: t.text,
    path: t.text,
    day: t.text,
  },
});

/** Enabled alerts and projects by ID, with what admins of their organization need to find them. */
export const listOwnerNames = sqlStatement({
  text: `
    select a.id, a.organization_id as "organizationId", 'Certificate alert' as type, a.name, p.name as "projectName",
      to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today
    from certificate_alert a join project p on p.id = a.project_id where a.id = any(:ids) and a.is_enabled
    union all
    select a.id, a.organization_id, 'Alert of a machine identity', a.name, p.name, to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
    from identity_alert a left join project p on p.id = a.project_id where a.id = any(:ids) and a.is_enabled
    union all
    select p.id, p.organization_id, 'Project', p.name, null, to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
    from project p where p.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    type: t.text,
    name: t.text,
    projectName: t.nullable(t.text),
    today: t.text,
  },
});

/** Possible recipients of messages to people: admins of these projects, and members whom the notices of these messages name. */
export const listPeopleOf = sqlStatement({
  text: `
    select distinct p.id as "projectId", u.username
    from project p join project_member_now m on m.project_id = p.id join app_user u on u.id = m.member_id
    where p.id = any(:projectIds) and ('admin' = any(m.roles) or u.id = any(array(
      select jsonb_array_elements_text(n.facts -> 'recipientIds')::uuid
      from notification_delivery d join notice n on n.id = d.subject_id where d.message_id = any(:messageIds))))`,
  params: { projectIds: t.array(t.uuid), messageIds: t.array(t.uuid) },
  row: { projectId: t.uuid, username: t.text },
});

// Notices of credentials, which are written from these, with the projects of identities by lateral joins.

/** Projects that an identity `i` is a member of itself, directly or by a group; one row without a project if there is none. */
const PROJECTS = `left join lateral (
    select distinct n.organization_id, n.project_id from project_member_now n where n.member_id = i.id and not n.is_of_all_projects) m on true`;
const OWNER = `coalesce(m.organization_id, i.organization_id) as "organizationId", m.project_id as "projectId"`;

const GIVEN = [
  ...[':identityIds', ':tokenIds', ':subjectIds'].map((ids) => arrayOfHiddenLength(ids, 'uuid')),
  ...[':changes', ':occurrences'].map((texts) => arrayOfHiddenLength(texts, 'text')),
].join(', ');

/**
 * Writes notices of changes of credentials of identities (or of the owners of tokens, if no identity is given), for whom they concern.
 * @returns the owners of the notices
 */
export const insertCredentialNotices = sqlStatement({
  text: insertingNotices(`
    select coalesce(m.organization_id, i.organization_id), m.project_id, coalesce(g.subject_id, i.id), g.occurrence,
      jsonb_build_object('name', i.name, 'fields', jsonb_build_object('Change', g.change, 'By', :author::text))
    from unnest(${GIVEN})
        as g (identity_id, token_id, subject_id, change, occurrence)
      left join access_token t on g.identity_id is null and t.id = g.token_id
      join identity i on i.id = coalesce(g.identity_id, t.identity_id)
      ${PROJECTS}`),
  params: {
    kind: t.text,
    author: t.text,
    identityIds: t.array(t.nullable(t.uuid)),
    tokenIds: t.array(t.nullable(t.uuid)),
    subjectIds: t.array(t.nullable(t.uuid)),
    changes: t.array(t.text),
    occurrences: t.array(t.text),
  },
  row: NOTICE_OWNER,
});

const outlives = (since: string): string => `x.expires_at - ${since} > make_interval(days => :days::integer)`;
/** Tokens that people created for identities, and not those of logins; client secrets. */
const CREDENTIALS = {
  token: `select x.id, x.identity_id, coalesce(x.name, '') as label, x.expires_at from access_token x
    where x.auth_method = 'token-auth' and x.identity_id is not null and not x.is_revoked
      and ${outlives('coalesce(x.last_renewed_at, x.created_at)')}`,
  clientSecret: `select x.id, x.identity_id, x.description as label, x.expires_at from universal_auth_client_secret x
    where not x.is_revoked and ${outlives('x.created_at')}`,
} as const;

/** Credentials that expire within a number of days and were issued for longer than that, soonest first, with whom to notify. */
export const listExpiring = sqlVariants({
  options: { kind: ['token', 'clientSecret'] },
  text: ({ kind }) => `
  with found as materialized (
    ${CREDENTIALS[kind]} and x.expires_at > now() and x.expires_at <= now() + make_interval(days => :days::integer)
      and (x.expires_at, x.id) > (:afterTime::timestamptz, :afterId::uuid)
    order by x.expires_at, x.id limit :most::integer
  )
  select f.id, f.label, coalesce(f.expires_at, now()) as "expiresAt", i.name as "identityName", ${OWNER}
  from found f join identity i on i.id = f.identity_id ${PROJECTS}
  order by f.expires_at, f.id`,
  params: { days: t.integer, afterTime: t.time, afterId: t.uuid, most: t.integer },
  row: {
    id: t.uuid,
    label: t.text,
    expiresAt: t.time,
    identityName: t.text,
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
  },
});
