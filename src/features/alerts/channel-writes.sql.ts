import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Makes the statement that deletes the channels of an alert except these. @param table of the channels */
export const channelDeletion = (table: string) =>
  sqlStatement({
    text: `delete from ${table} where alert_id = :alertId and not id = any(:keptIds)`,
    params: { alertId: t.uuid, keptIds: t.array(t.uuid) },
    row: {},
  });

/**
 * Makes the statement that writes channels of an alert, one array per column. `updated_at` changes only with the content; a new position
 * alone is no change.
 */
export const channelWriting = (table: string) =>
  sqlStatement({
    text: `insert into ${table} as c
      (id, organization_id, project_id, alert_id, position, channel_type, config_sealed, config_version, is_enabled)
    select given.id, :organizationId::uuid, :projectId::uuid, :alertId::uuid, given.position, given.type, given.config, given.version, given.enabled
    from unnest(:ids::uuid[], :positions::integer[], :types::text[], :configs::bytea[], :versions::integer[], :enabled::boolean[])
      as given (id, position, type, config, version, enabled)
    on conflict (id) do update set position = excluded.position, channel_type = excluded.channel_type,
      config_sealed = excluded.config_sealed, config_version = excluded.config_version, is_enabled = excluded.is_enabled,
      tested_at = case when c.config_version = excluded.config_version then c.tested_at end,
      test_error_code = case when c.config_version = excluded.config_version then c.test_error_code end,
      updated_at = case when (c.config_version, c.is_enabled) = (excluded.config_version, excluded.is_enabled)
        then c.updated_at else now() end
    where c.alert_id = :alertId`,
    params: {
      organizationId: t.uuid,
      projectId: t.nullable(t.uuid),
      alertId: t.uuid,
      ids: t.array(t.uuid),
      positions: t.array(t.integer),
      types: t.array(t.text),
      configs: t.array(t.bytea),
      versions: t.array(t.integer),
      enabled: t.array(t.boolean),
    },
    row: {},
  });

const TABLE = 'certificate_alert_channel';

export const deleteOtherChannels = channelDeletion(TABLE);
export const writeChannels = channelWriting(TABLE);
