import { sqlStatement, t } from '../../kernel/database/statement.js';
import { cancelUnless, retryMessagesBy } from '../deliveries/public.js';
import { CHANNEL_TYPES } from '../notifications/public.js';
import { SUBJECT, SUPERSEDED } from './due.sql.js';

/** A channel with its alert and project, for sending; no row if it was deleted. */
export const findSender = sqlStatement({
  text: `
    select c.id, c.project_id as "projectId", c.channel_type as "channelType", c.config_sealed as "configSealed",
      c.config_version as "configVersion", c.organization_id as "organizationId", c.is_enabled and a.is_enabled as "isEnabled", a.id as "alertId", a.name as "alertName",
      a.alert_before as "alertBefore", p.name as "projectName"
    from certificate_alert_channel c join certificate_alert a on a.id = c.alert_id join project p on p.id = c.project_id
    where c.id = :channelId`,
  params: { channelId: t.uuid },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    channelType: t.oneOf(...CHANNEL_TYPES),
    configSealed: t.bytea,
    configVersion: t.integer,
    isEnabled: t.boolean,
    alertId: t.uuid,
    alertName: t.text,
    alertBefore: t.text,
    projectName: t.text,
  },
});

/** Locks the alert of a channel. No row if the channel is deleted. */
export const lockAlertOf = sqlStatement({
  text: `
    select id from certificate_alert where id = (select alert_id from certificate_alert_channel where id = :channelId) for no key update`,
  params: { channelId: t.uuid },
  row: { id: t.uuid },
});

/** The channel of a message `m`, while it and its alert are enabled. */
const ENABLED = `
  select from certificate_alert_channel c join certificate_alert a on a.id = c.alert_id
  where c.id = m.channel_id and c.is_enabled and a.is_enabled`;

/** Cancels pending messages of a deleted or disabled channel. */
export const cancelMessages = cancelUnless(ENABLED);

/** Retries messages of the alerts of a project. */
export const retryMessages = retryMessagesBy('project_id', 'certificate-alert', ENABLED);

/**
 * The certificates of a message, soonest expiration first, each with its first hundred names. Of those that expire, the ones that are
 * neither revoked nor replaced.
 */
export const listMessageCertificates = sqlStatement({
  text: `
    select c.id, c.serial_number as "serialNumber", c.common_name as "commonName", c.sans[1:100] as sans, c.profile_slug as "profileName",
      c.not_before as "notBefore", c.not_after as "notAfter", c.status,
      floor(extract(epoch from c.not_after - now()) / 86400)::integer as "daysLeft"
    from notification_message m cross join ${SUBJECT}
    where m.id = :messageId and c.id = any(array(select subject_id from notification_delivery where message_id = :messageId))
      and (m.event <> 'expiration' or c.status = 'active' and ${SUPERSEDED} is false)
    order by c.not_after, c.id`,
  params: { messageId: t.uuid },
  row: {
    id: t.uuid,
    serialNumber: t.text,
    commonName: t.text,
    sans: t.array(t.text),
    profileName: t.nullable(t.text),
    notBefore: t.time,
    notAfter: t.time,
    status: t.text,
    daysLeft: t.integer,
  },
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

/** Locks an alert against concurrent writes of its messages. No row if it is deleted or disabled. */
export const lockEnabledAlert = sqlStatement({
  text: `
    select id, organization_id as "organizationId", project_id as "projectId" from certificate_alert
    where id = :id and is_enabled for no key update`,
  params: { id: t.uuid },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid },
});
