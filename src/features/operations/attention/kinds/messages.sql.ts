// Parts of statements: rows of kinds.
import { IS_SUPERSEDED } from '../../../notifications/alert-deliveries/public.js';
import { HAS_CONTENT, undeliveredOfOwner } from '../../../notifications/deliveries/public.js';
import { type Help, rowsOf, type Source } from './kind.sql.js';

/** Whether a message `m` has a later one about the same, to the same recipient, that was sent or will be. */
const FOLLOWED = `exists (select from notification_delivery l join notification_message n on n.id = l.message_id
        where l.owner_id = d.owner_id and l.subject_id = d.subject_id and l.event = d.event and l.channel_id = d.channel_id
          and l.recipient = d.recipient and n.created_at > m.created_at and n.state in ('sent', 'pending'))`;

/** Its recipient was not removed, and there is something left to notify of. */
const IS_WANTED = `m.error_code is distinct from 'RECIPIENT_REMOVED' and ${HAS_CONTENT}`;

/** Messages of the last month that were given up, as long as nothing followed and what they are about is still so. */
const unsent = (
  about: string,
): string => `m.state in ('failed', 'cancelled') and m.ended_at > now() - interval '30 days' and ${IS_WANTED}
      and exists (select from notification_delivery d where d.message_id = m.id and not ${FOLLOWED} and ${about})`;

/** Messages that wait for longer than a target is usually away. */
const DELAYED = `m.state = 'pending' and m.created_at < now() - interval '1 hour'`;

const COLUMNS = { of: 'm', code: 'm.error_code', since: 'm.created_at' } as const;

const ofAlerts = (where: string): Source => ({
  subject: 'AlertMessage',
  reader: 'alerts',
  rows: rowsOf({
    ...COLUMNS,
    from: `notification_message m join certificate_alert a on a.id = m.owner_id
      join certificate_alert_channel h on h.id = m.channel_id`,
    where: `m.source = 'certificate-alert' and a.is_enabled and h.is_enabled and ${where}`,
    ...{ name: 'a.name', ownerId: 'a.id' },
  }),
  helps: [{ field: 'retryAlertMessage', right: { project: 'pki-alerts:edit' } }],
});

const ofNotices = (where: string): Source => ({
  subject: 'NotificationMessage',
  reader: 'webhooks',
  rows: rowsOf({
    ...COLUMNS,
    from: 'notification_message m join notification_channel h on h.id = m.channel_id',
    where: `m.source = 'project-notice' and h.is_enabled and ${where}`,
    name: 'h.name',
  }),
  helps: [{ field: 'retryNotificationMessage', right: { project: 'webhooks:edit' } }],
});

/** A certificate that expired or was replaced needs no alert of its expiration; other events stay true. */
const OF_CERTIFICATE = `(d.event <> 'expiration' or exists (select from certificate c
        where c.id = d.subject_id and c.status = 'active' and c.not_after > now() and not ${IS_SUPERSEDED})
      or exists (select from certificate_authority c where c.id = d.subject_id and c.not_after > now()))`;

/** Asked first: of many owners few have messages that were not sent. */
const hasUnsent = (ownerId: string): string =>
  `exists (select from notification_message s where s.owner_id = ${ownerId} and s.state <> 'sent')`;

/** Messages of an alert of an identity have no history of their own: the alert stands for them. */
const ofIdentities = (isOfProject: boolean, where: string): Source => ({
  subject: 'IdentityAlert',
  reader: isOfProject ? 'identities' : 'organizationIdentities',
  rows: rowsOf({
    from: `identity_alert a cross join lateral (
        select min(m.created_at) as since, min(m.error_code) as code
        from notification_message m join identity_alert_channel h on h.id = m.channel_id
        where m.owner_id = a.id and m.state <> 'sent' and h.is_enabled and ${where}) open`,
    where: `a.is_enabled and a.project_id is ${isOfProject ? 'not null' : 'null'} and ${hasUnsent('a.id')} and open.since is not null`,
    ...{ of: 'a', since: 'open.since', code: 'open.code', fields: `jsonb_build_object('identityId', a.identity_id)` },
  }),
  helps: helpsOfIdentities(isOfProject),
});

const helpsOfIdentities = (isOfProject: boolean): readonly Help[] => {
  const right = isOfProject ? ({ project: 'identity:edit' } as const) : ({ organization: 'identity:edit' } as const);
  return [
    { field: 'retryIdentityAlertMessages', right },
    { field: 'updateIdentityAlert', right },
  ];
};

/** Columns of the owner of messages that reached nobody. */
const undelivered = (table: string, of: string) => ({
  of,
  from: `${table} ${of} cross join lateral (${undeliveredOfOwner(`${of}.id`)}) found`,
  where: `${hasUnsent(`${of}.id`)} and found.count > 0`,
  ...{ since: 'found.since', code: 'found.error_code' },
});

const ALERT = undelivered('certificate_alert', 'a');
const IDENTITY_ALERT = undelivered('identity_alert', 'a');

const identityAlertReachesNobody = (isOfProject: boolean): Source => ({
  subject: 'IdentityAlert',
  reader: isOfProject ? 'identities' : 'organizationIdentities',
  rows: rowsOf({
    ...IDENTITY_ALERT,
    where: `a.is_enabled and a.project_id is ${isOfProject ? 'not null' : 'null'} and ${IDENTITY_ALERT.where}`,
    fields: `jsonb_build_object('identityId', a.identity_id)`,
  }),
  helps: helpsOfIdentities(isOfProject),
});

/** Alerts and projects with messages about something that nobody was notified of. */
export const NOBODY_NOTIFIED: readonly Source[] = [
  {
    subject: 'CertificateAlert',
    reader: 'alerts',
    rows: rowsOf({ ...ALERT, where: `a.is_enabled and ${ALERT.where}` }),
    helps: [
      { field: 'retryAlertMessages', input: 'projectId', right: { project: 'pki-alerts:edit' } },
      { field: 'updateCertificateAlert', right: { project: 'pki-alerts:edit' } },
    ],
  },
  identityAlertReachesNobody(true),
  identityAlertReachesNobody(false),
  {
    subject: 'Project',
    reader: 'webhooks',
    rows: rowsOf({ ...undelivered('project', 'p'), projectId: 'p.id' }),
    helps: [{ field: 'retryNotificationMessages', input: 'projectId', right: { project: 'webhooks:edit' } }],
  },
];

export const ALERT_UNSENT = ofAlerts(unsent(OF_CERTIFICATE));
export const NOTICE_UNSENT = ofNotices(unsent('true'));
export const ALERT_DELAYED = ofAlerts(DELAYED);
export const NOTICE_DELAYED = ofNotices(DELAYED);
export const IDENTITY_ALERT_UNSENT = [ofIdentities(true, unsent('true')), ofIdentities(false, unsent('true'))];
export const IDENTITY_ALERT_DELAYED = [ofIdentities(true, DELAYED), ofIdentities(false, DELAYED)];
