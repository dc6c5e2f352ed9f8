// Statements on channels and messages that slices share, and arrays of many columns.
import { sqlStatement, t } from '../../kernel/database/statement.js';
import { channelDeletion, channelWriting } from '../alerts/public.js';
import { retryMessagesBy } from '../deliveries/public.js';

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

/** The channel of a message `m`, while it and its alert are enabled. */
const ENABLED = `
  select from identity_alert_channel c join identity_alert a on a.id = c.alert_id
  where c.id = m.channel_id and c.is_enabled and a.is_enabled`;

/** Retries messages of an alert. */
export const retryMessages = retryMessagesBy('owner_id', 'identity-alert', ENABLED);
