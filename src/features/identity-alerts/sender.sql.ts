import { sqlStatement, t } from '../../kernel/database/statement.js';
import { channelDeletion, channelWriting } from '../alerts/public.js';
import { cancelUnless, retryMessagesBy } from '../deliveries/public.js';
import { CHANNEL_TYPES } from '../notifications/public.js';

const TABLE = 'identity_alert_channel';

export const deleteOtherChannels = channelDeletion(TABLE);
export const writeChannels = channelWriting(TABLE);

/** Names the channels of an alert. @returns those that had another name */
export const nameChannels = sqlStatement({
  text: `
    update identity_alert_channel c set name = given.name, updated_at = now()
    from unnest(:ids::uuid[], :names::text[]) as given (id, name) where c.id = given.id and c.name <> given.name returning c.id`,
  params: { ids: t.array(t.uuid), names: t.array(t.text) },
  row: { id: t.uuid },
});

/** A channel with its alert and its owner, for whoever sends; none when it was removed. */
export const findSender = sqlStatement({
  text: `
    select c.id, c.organization_id as "organizationId", c.project_id as "projectId", c.channel_type as "channelType",
      c.config_sealed as "configSealed", c.config_version as "configVersion", c.is_enabled and a.is_enabled as "isEnabled",
      a.id as "alertId", a.name as "alertName", a.alert_before_days || 'd' as "alertBefore", i.id as "identityId", i.name as "identityName",
      coalesce(p.name, o.name) as "ownerName"
    from identity_alert_channel c join identity_alert a on a.id = c.alert_id join identity i on i.id = a.identity_id
      join organization o on o.id = c.organization_id left join project p on p.id = c.project_id
    where c.id = :channelId`,
  params: { channelId: t.uuid },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    channelType: t.oneOf(...CHANNEL_TYPES),
    configSealed: t.bytea,
    configVersion: t.integer,
    isEnabled: t.boolean,
    alertId: t.uuid,
    alertName: t.text,
    alertBefore: t.text,
    identityId: t.uuid,
    identityName: t.text,
    ownerName: t.text,
  },
});

/** Locks the alert of a channel. None when the channel is gone. */
export const lockAlertOf = sqlStatement({
  text: `
    select id from identity_alert where id = (select alert_id from identity_alert_channel where id = :channelId) for no key update`,
  params: { channelId: t.uuid },
  row: { id: t.uuid },
});

/** The channel of a message `m`, while it and its alert are enabled. */
const ENABLED = `
  select from identity_alert_channel c join identity_alert a on a.id = c.alert_id
  where c.id = m.channel_id and c.is_enabled and a.is_enabled`;

/** Cancels what waits at a channel that is gone or disabled. */
export const cancelMessages = cancelUnless(ENABLED);

/** Retries messages of an alert. */
export const retryMessages = retryMessagesBy('owner_id', 'identity-alert', ENABLED);

/** Locks an alert against others that write deliveries of it. None when it is gone or disabled. */
export const lockEnabledAlert = sqlStatement({
  text: `
    select id, organization_id as "organizationId", project_id as "projectId" from identity_alert
    where id = :id and is_enabled for no key update`,
  params: { id: t.uuid },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.nullable(t.uuid) },
});
