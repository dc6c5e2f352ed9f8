// Credentials of two tables in one list, and a request for jobs of all alerts that they concern.
import { arrayOfHiddenLength } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { enqueueingStanding } from '../../../kernel/jobs/job.sql.js';
import { ENDS_AT } from '../../identity/access/public.js';
import { enabledChannelOf, retryMessagesBy } from '../deliveries/public.js';

/** Whether an identity is a member of a project now, or the project owns it. Both are expressions. */
const isMember = (projectId: string, identityId: string): string => `(
  exists (select from project_member_now m where m.project_id = ${projectId} and m.member_id = ${identityId})
  or exists (select from identity o where o.id = ${identityId} and o.project_id = ${projectId}))`;

/** A member of a project now, or an identity that the project owns. */
export const findMember = sqlStatement({
  text: `select i.id from identity i where i.id = :identityId and ${isMember(':projectId', 'i.id')}`,
  params: { projectId: t.uuid, identityId: t.uuid },
  row: { id: t.uuid },
});

/**
 * Credentials `c` of identities that can expire: client secrets, and access tokens that people created. Tokens of logins are renewed by
 * logging in again. Revoked and used up credentials are left out. `renewed_at` is null of a token that cannot be renewed again.
 */
const CREDENTIAL = `(
      select x.id, x.identity_id, 'client-secret' as kind, x.description as label, x.expires_at, null::timestamptz as renewed_at
      from universal_auth_client_secret x
      where not x.is_revoked and (x.num_uses_limit = 0 or x.num_uses < x.num_uses_limit)
      union all
      select t.id, t.identity_id, 'access-token', coalesce(t.name, ''), ${ENDS_AT}, case
          when t.max_ttl_seconds = 0 or now() + make_interval(secs => t.ttl_seconds) <= t.created_at + make_interval(secs => t.max_ttl_seconds)
          then t.last_renewed_at
        end
      from access_token t
      where t.auth_method = 'token-auth' and not t.is_revoked and (t.num_uses_limit = 0 or t.num_uses < t.num_uses_limit)) c`;

/**
 * A credential expires within the time of the alert `a`. A token that is kept alive by renewals, none of which lets it live for longer
 * than that, does not: it would always be about to expire.
 */
const IS_DUE = `c.expires_at > now() and c.expires_at <= now() + make_interval(days => a.alert_before_days)
  and (c.renewed_at is null or c.expires_at - c.renewed_at > make_interval(days => a.alert_before_days))`;

/** The alert belongs to the organization, or to a project of which the identity is a member now. */
const IS_MEMBER = `(a.project_id is null or ${isMember('a.project_id', 'a.identity_id')})`;

/** Has enabled alerts run: those of identities, and of the identities of access tokens. One statement, to be sent with a commit. */
export const enqueueChecksOfCredentials = sqlStatement({
  text: enqueueingStanding(`
    select gen_random_uuid() as id, a.organization_id, a.project_id, a.id::text as key, a.id as subject_id,
      null::text as target, false as is_urgent, null::timestamptz as due_at
    from identity_alert a
    where a.is_enabled and a.identity_id = any(array(
      select unnest(${arrayOfHiddenLength(':identityIds', 'uuid')})
      union select t.identity_id from access_token t where t.id = any(${arrayOfHiddenLength(':tokenIds', 'uuid')})))`),
  params: { kind: t.text, identityIds: t.array(t.uuid), tokenIds: t.array(t.uuid) },
  row: { id: t.uuid },
});

/**
 * Credentials that an alert has to notify of, soonest expiry first, after a place. `occurrence` names the notification: the day of a
 * daily one, or the renewal of a token that expires again.
 */
export const listDueCredentials = sqlStatement({
  text: `
    select c.id, c.expires_at as "expiresAt", case
        when a.is_daily_reminder then to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
        when t.last_renewed_at is null then ''
        else (extract(epoch from t.last_renewed_at) * 1000)::bigint::text
      end as occurrence
    from identity_alert a join ${CREDENTIAL} on c.identity_id = a.identity_id left join access_token t on t.id = c.id
    where a.id = :alertId and a.is_enabled and ${IS_MEMBER} and ${IS_DUE} and (c.expires_at, c.id) > (:afterTime::timestamptz, :afterId::uuid)
    order by c.expires_at, c.id limit :most::integer`,
  params: { alertId: t.uuid, afterTime: t.time, afterId: t.uuid, most: t.integer },
  row: { id: t.uuid, expiresAt: t.time, occurrence: t.text },
});

/** Seconds until the next credential comes within the time of an alert; null where none will. */
export const secondsToNextCredential = sqlStatement({
  text: `
    select extract(epoch from min(c.expires_at) - (now() + make_interval(days => a.alert_before_days)))::double precision as seconds
    from identity_alert a join ${CREDENTIAL} on c.identity_id = a.identity_id
    where a.id = :alertId and a.is_enabled and c.expires_at > now() + make_interval(days => a.alert_before_days)
    group by a.id`,
  params: { alertId: t.uuid },
  row: { seconds: t.double },
});

/** The credentials of a message that are still about to expire, soonest first. */
export const listMessageCredentials = sqlStatement({
  text: `
    select c.id, c.kind, c.label, c.expires_at as "expiresAt", floor(extract(epoch from c.expires_at - now()) / 86400)::integer as "daysLeft"
    from notification_delivery d join identity_alert a on a.id = d.owner_id join ${CREDENTIAL} on c.id = d.subject_id
    where d.message_id = :messageId and ${IS_DUE} order by c.expires_at, c.id`,
  params: { messageId: t.uuid },
  row: {
    id: t.uuid,
    kind: t.oneOf('client-secret', 'access-token'),
    label: t.text,
    expiresAt: t.time,
    daysLeft: t.integer,
  },
});

/** Retries messages of an alert. */
export const retryMessages = retryMessagesBy('owner_id', 'identity-alert', enabledChannelOf('identity_alert'));
