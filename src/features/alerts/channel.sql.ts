// People of memberships that a list of channels names, and the channels of an alert, written together.
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

/** Usernames of current members of projects, or of organizations, among the given users and the members of the given groups. */
export const listPeopleNamed = sqlStatement({
  text: `
    select distinct w.place, u.username from jsonb_to_recordset(:wanted::text::jsonb) as w
        (place integer, "organizationId" uuid, "projectId" uuid, "userIds" uuid[], "groupIds" uuid[])
      cross join lateral (
        select m.member_id from project_member_now m
        where m.project_id = w."projectId" and (m.member_id = any(w."userIds") or m.group_id = any(w."groupIds"))
        union
        select m.member_id from organization_member_now m
        where w."projectId" is null and m.organization_id = w."organizationId"
          and (m.member_id = any(w."userIds") or m.group_id = any(w."groupIds"))
      ) member
      join app_user u on u.id = member.member_id
    order by w.place, u.username`,
  params: { wanted: t.text },
  row: { place: t.integer, username: t.text },
});

/** The given users and groups that are currently members of the project, or without one of the organization. */
export const listMembersNamed = sqlStatement({
  text: `
    select u.id from app_user u where u.id = any(:userIds) and case when :projectId::uuid is null
      then exists (select from organization_member_now m where m.organization_id = :organizationId and m.member_id = u.id)
      else exists (select from project_member_now m where m.project_id = :projectId and m.member_id = u.id) end
    union
    select m.group_id from project_membership m where m.project_id = :projectId and m.group_id = any(:groupIds)
    union
    select m.group_id from organization_membership m
    where :projectId::uuid is null and m.organization_id = :organizationId and m.group_id = any(:groupIds)`,
  params: {
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    userIds: t.array(t.uuid),
    groupIds: t.array(t.uuid),
  },
  row: { id: t.uuid },
});
