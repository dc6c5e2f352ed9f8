// Parts of statements: rows of kinds that are about rotations and their connections.
import { hasDisabledKey } from '../../../projects/public.js';
import { type Help, rowsOf, type Source } from './kind.sql.js';

const ROTATE: Help = { field: 'rotateSecrets', right: { project: 'secret-rotation:rotate-secrets' } };
const CHECK: Help = { field: 'checkSecretRotation', right: { project: 'secret-rotation:rotate-secrets' } };
const RECONCILE: Help = { field: 'reconcileSecretRotation', right: { project: 'secret-rotation:rotate-secrets' } };
const CANCEL: Help = {
  ...{ field: 'cancelSecretRotationAttempt', input: 'attemptId' },
  right: { project: 'secret-rotation:rotate-secrets' },
};
const GIVE_UP: Help = {
  ...{ field: 'giveUpCredentialDebts', input: 'ids' },
  right: { project: 'secret-rotation:delete' },
};
const DELETE: Help = { field: 'deleteSecretRotation', right: { project: 'secret-rotation:delete' } };

/** What conditions of rules on rotations compare. Of a credential whose rotation is deleted only the connection is known. */
const fieldsOf = (connectionId: string): string =>
  `jsonb_build_object('environment', (select e.slug from environment e where e.id = r.environment_id),
        'secretPath', (select f.path from folder f where f.id = r.folder_id), 'connectionId', ${connectionId})`;
/** Error code of the last attempt. */
const LAST_CODE = `(select a.error_code from secret_rotation_attempt a where a.id = r.last_attempt_id)`;
/** When the first attempt after the last success failed. */
const FAILING_SINCE = `coalesce((select a.ended_at from secret_rotation_attempt a
        where a.rotation_id = r.id and a.number > r.attempts - r.failures and a.ended_at is not null order by a.number limit 1),
        r.last_attempted_at, r.updated_at)`;

const rotations = (
  {
    from = 'secret_rotation r',
    ...columns
  }: { from?: string; where: string; since: string; code: string; ownerId?: string },
  ...helps: readonly Help[]
): Source => ({
  subject: 'SecretRotation',
  reader: 'rotations',
  rows: rowsOf({
    ...{ of: 'r', from, ...columns, type: 'r.type', fields: fieldsOf('r.connection_id') },
  }),
  helps,
});

/** It is unknown which credential is valid. */
export const UNDECIDED = rotations(
  { where: `r.status = 'needs_reconciliation'`, since: FAILING_SINCE, code: LAST_CODE },
  ...[RECONCILE, CHECK, DELETE],
);

/** Automatic rotation has stopped: the target rejects our own credentials, or another rotation owns the account. */
export const PAUSED = rotations(
  {
    where: `r.pause_reason is not null and r.status not in ('needs_reconciliation', 'deleting')`,
    ...{ since: FAILING_SINCE, code: 'r.pause_reason' },
  },
  ROTATE,
  CHECK,
);

/** The last attempt failed; there will be others. */
export const FAILED = rotations(
  { where: `r.status = 'failed' and r.pause_reason is null`, since: FAILING_SINCE, code: LAST_CODE },
  ROTATE,
  CHECK,
);

/** An attempt that has not ended for longer than its retries explain. */
export const STUCK = rotations(
  {
    from: 'secret_rotation_attempt a join secret_rotation r on r.id = a.rotation_id',
    where: `a.ended_at is null and a.created_at < now() - interval '1 hour'`,
    ...{ since: 'a.created_at', code: 'a.error_code', ownerId: 'a.id' },
  },
  CANCEL,
);

/** A deletion that waits for the target. */
export const DELETION_STUCK = rotations(
  {
    where: `r.status = 'deleting' and (r.updated_at < now() - interval '1 hour'
      or exists (select from credential_debt d where d.rotation_id = r.id and d.tries > 0))`,
    since: 'r.updated_at',
    code: `(select d.error_code from credential_debt d where d.rotation_id = r.id and d.error_code is not null order by d.created_at limit 1)`,
  },
  DELETE,
);

/** Its time has passed, and nothing has begun. */
export const OVERDUE = rotations(
  {
    where: `r.status in ('success', 'failed') and r.is_auto_rotation_enabled and r.pause_reason is null
      and r.next_rotation_at < now() - interval '1 hour'`,
    since: 'r.next_rotation_at',
    code: `case when ${hasDisabledKey('r.project_id')} then 'KEY_DISABLED' end`,
  },
  ROTATE,
);

/** A credential in an external system whose revocation has failed. */
export const PENDING_REVOCATION: Source = {
  subject: 'CredentialDebt',
  reader: 'rotations',
  rows: rowsOf({
    from: 'credential_debt d left join secret_rotation r on r.id = d.rotation_id',
    ...{ of: 'd', where: 'd.tries > 0', since: 'd.created_at', code: 'd.error_code', type: 'd.type' },
    fields: fieldsOf('d.connection_id'),
  }),
  helps: [GIVE_UP],
};

const CONNECTION_HELPS: readonly Help[] = [
  {
    field: 'checkAppConnection',
    right: { project: 'app-connections:connect-app-connections', organization: 'app-connections:connect' },
  },
  {
    field: 'updateAppConnection',
    right: { project: 'app-connections:edit-app-connections', organization: 'app-connections:edit' },
  },
];

const connections = (columns: { from: string; where: string; since: string; code: string }): Source => ({
  subject: 'ConnectedApp',
  reader: 'connections',
  rows: rowsOf({
    ...columns,
    ...{ of: 'c', type: 'c.app' },
    fields: `jsonb_build_object('connectionId', c.id)`,
  }),
  helps: CONNECTION_HELPS,
});

const IS_FAILING = `c.failing_since is not null and c.check_state = 'failing'`;

/** Its checks fail. */
export const CONNECTION_FAILING = connections({
  ...{ from: 'app_connection c', where: IS_FAILING, since: 'c.failing_since', code: 'c.check_code' },
});

/** Its external system has not responded to several calls, and is left alone for a while. */
export const TARGET_UNRESPONSIVE = connections({
  from: 'unresponsive_target u join app_connection c on c.organization_id = u.organization_id and c.target = u.target',
  ...{ where: `u.failures >= 3 and (${IS_FAILING}) is not true`, since: 'u.since', code: 'u.error_code' },
});
