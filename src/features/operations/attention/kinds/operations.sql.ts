// Parts of statements: rows of kinds.
import { type Help, rowsOf, type Source } from './kind.sql.js';

const ofJobs = (owner: string): string =>
  rowsOf({
    ...{ of: 'j', from: 'job j', where: `j.state = 'failed' and j.organization_id is ${owner}` },
    ...{ name: 'j.kind', since: 'j.finished_at', code: 'j.error_code' },
  });

const JOB_HELPS: readonly Help[] = [
  { field: 'retryJob', right: { organization: 'jobs:edit' } },
  { field: 'cancelJob', right: { organization: 'jobs:edit' } },
];

/** Jobs that failed in all their attempts: of organizations, and of the installation. */
export const JOB_FAILED: Source = { subject: 'Job', reader: 'jobs', rows: ofJobs('not null'), helps: JOB_HELPS };
export const INSTALLATION_JOB_FAILED: Source = {
  subject: 'Job',
  reader: 'installation',
  rows: ofJobs('null'),
  helps: JOB_HELPS,
};

/** A disabled key for which rotations or messages wait. */
export const KEY_DISABLED: Source = {
  subject: 'OrganizationKey',
  reader: 'keys',
  rows: rowsOf({
    from: 'organization_key k',
    where: `k.disabled_at is not null and exists (select from project p where p.kms_secret_manager_key_id = k.id and (
        exists (select from secret_rotation r where r.project_id = p.id and r.is_auto_rotation_enabled and r.next_rotation_at < now())
        or exists (select from notification_message m where m.project_id = p.id and m.state = 'pending')))`,
    ...{ of: 'k', projectId: 'null', since: 'k.disabled_at' },
  }),
  helps: [{ field: 'enableOrganizationKey', right: { organization: 'kms:edit' } }],
};

const ofTargets = (table: string, projectId: string): string =>
  rowsOf({
    ...{ of: 'x', from: `${table} x`, where: 'x.is_enabled and x.failures > 0', projectId },
    ...{ since: 'coalesce(x.last_success_at, x.created_at)', code: 'x.last_failure' },
  });

/** Targets of events that do not take them: later events wait. */
export const WEBHOOK_FAILING: Source = {
  subject: 'ChangeWebhook',
  reader: 'webhooks',
  rows: ofTargets('change_webhook', 'x.project_id'),
  helps: [
    { field: 'testChangeWebhook', right: { project: 'webhooks:edit' } },
    { field: 'updateChangeWebhook', right: { project: 'webhooks:edit' } },
  ],
};
export const SINK_FAILING: Source = {
  subject: 'AuditSink',
  reader: 'sinks',
  rows: ofTargets('audit_sink', 'null'),
  helps: [
    { field: 'testAuditSink', right: { organization: 'settings:edit' } },
    { field: 'updateAuditSink', right: { organization: 'settings:edit' } },
  ],
};
