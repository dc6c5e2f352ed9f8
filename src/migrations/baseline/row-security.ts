/** Of one organization, and reached from no other. */
const CONTENTS = [
  'certificate',
  'certificate_alert',
  'certificate_alert_channel',
  'certificate_authority',
  'certificate_authority_history',
  'certificate_cleaning',
  'certificate_profile',
  'certificate_request',
  'certificate_revocation',
  'certificate_revocation_list',
  'change_webhook',
  'credential_debt',
  'environment',
  'folder',
  'notification_channel',
  'personal_secret',
  'secret',
  'secret_import',
  'secret_reminder',
  'secret_reseal',
  'secret_rotation',
  'secret_rotation_attempt',
  'secret_rotation_credential',
  'secret_rotation_key',
  'secret_version',
  'tag',
];

/** Of an organization, and reached from its root organization too, or from its sub-organizations. */
const SHARED = [
  'app_connection',
  'audit_checkpoint',
  'audit_sink',
  'audit_verification',
  'identity_alert',
  'identity_alert_channel',
  'notice',
  'notification_message',
  'password_rule',
  'project_reencryption',
  'project_rescue',
  'project_template',
  'project_template_version',
  'unresponsive_target',
];

/** Read before the organization of a request is known too: by nodes, and to find out what a caller may do. */
const KNOWING = [
  'additional_privilege',
  'data_key',
  'idempotency_key',
  'organization_key',
  'organization_role',
  'project',
  'project_role',
];

// Each is evaluated once in a statement, not for each row, and the last one only for rows that are not of the organization itself.
// After the first transaction that set it the setting is an empty text.
const SETTING = `current_setting('strongroom.organization', true)`;
const SCOPE = `(select nullif(nullif(${SETTING}, '*'), '')::uuid)`;
const OWN = `organization_id = ${SCOPE} or (select ${SETTING} = '*')`;
const NOBODY_YET = `(select coalesce(${SETTING}, '') = '')`;
const RELATED = `organization_id = any(array(
  select o.id from organization o where o.parent_id = ${SCOPE}
  union all select o.parent_id from organization o where o.id = ${SCOPE}))`;

const policy = (table: string, rows: string): string =>
  `create policy strongroom_organization on ${table} using (${rows}); alter table ${table} enable row level security;`;

/**
 * Policies that hold statements of the service to the organization in the setting `strongroom.organization`: its id, or `*` for all.
 * They bind no owner: migrations and programs reach all rows.
 */
export const ROW_SECURITY = [
  ...CONTENTS.map((table) => policy(table, OWN)),
  ...SHARED.map((table) => policy(table, `${OWN} or ${RELATED}`)),
  ...KNOWING.map((table) => policy(table, `${OWN} or ${NOBODY_YET} or ${RELATED}`)),
].join('\n');
