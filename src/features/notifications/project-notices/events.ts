import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { NO_ID, newId } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { insertCredentialNotices, listExpiring } from './notice.sql.js';
import { enqueueWriting, notify } from './notices.js';

interface InProject {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Notifies a project that it was rescued. */
export const notifyOfRescue = (
  tx: Transaction,
  {
    rescueId,
    rescuer,
    reason,
    endsAt,
    ...owner
  }: InProject & {
    readonly rescueId: string;
    readonly rescuer: string;
    readonly reason: string;
    readonly endsAt: Date;
  },
): Promise<void> =>
  notify(tx, 'project-rescue', [
    {
      ...owner,
      subjectId: rescueId,
      occurrence: '',
      facts: { name: rescuer, fields: { Reason: reason, Until: endsAt.toISOString() } },
    },
  ]);

/**
 * Notifies a project that a certificate could not be issued or renewed. A request for a new certificate that the profile refused causes
 * no notice. Others cause at most one a day per certificate (or profile) and reason, because retries of people and programs would flood
 * the channels.
 */
export const notifyOfFailedRequest = (
  tx: Transaction,
  {
    requestId,
    certificateId,
    profileId,
    day,
    commonName,
    event,
    code,
    organizationId,
    projectId,
  }: InProject & {
    readonly requestId: string;
    readonly certificateId: string | null;
    readonly profileId: string | null;
    readonly day: string;
    readonly commonName: string;
    readonly event: string;
    readonly code: string;
  },
): Promise<void> => {
  const facts = { name: commonName, fields: { Request: event, Error: code } };
  const subjectId = certificateId ?? profileId ?? requestId;
  const notice = { organizationId, projectId, subjectId, occurrence: `${code} ${day}`, facts };
  const isRefused = event === 'issuance' && code === 'VALIDATION_FAILED';
  return notify(tx, 'certificate-request-failure', isRefused ? [] : [notice]);
};

/** Notifies projects, or with null the admins of the organization, that a connection fails: once until it works again. */
export const notifyOfFailure = (
  tx: Transaction,
  {
    organizationId,
    projectIds,
    connectionId,
    name,
    app,
    code,
    since,
  }: {
    readonly organizationId: string;
    readonly projectIds: readonly (string | null)[];
    readonly connectionId: string;
    readonly name: string;
    readonly app: string;
    readonly code: string;
    readonly since: Date;
  },
): Promise<void> =>
  notify(
    tx,
    'connection-failure',
    projectIds.map((projectId) => ({
      organizationId,
      projectId,
      subjectId: connectionId,
      occurrence: since.toISOString(),
      facts: { name, fields: { App: app, Error: code, Since: since.toISOString() } },
    })),
  );

/** Rotation failures that a project is notified of. */
export type RotationTrouble = 'failed' | 'paused' | 'undecided' | 'waiting';

const ROTATION_STATES: Readonly<Record<RotationTrouble, string>> = {
  failed: 'It is retried automatically if automatic rotation is on.',
  paused: 'Automatic rotation is paused so that no account gets locked out. Rotate manually to resume it.',
  waiting: 'It is due, and has not started. It starts when the error no longer applies.',
  undecided: 'It is unknown which password is valid. Both are stored; reconcile the rotation.',
};

/**
 * Notifies a project that a rotation failed: once per published credential, and once more when it is paused, undecided or waits. Further
 * notices of retries would flood the channels.
 */
export const notifyOfFailedRotation = (
  tx: Transaction,
  {
    rotationId,
    name,
    generation,
    trouble,
    message,
    ...owner
  }: InProject & {
    readonly rotationId: string;
    readonly name: string;
    readonly generation: number;
    readonly trouble: RotationTrouble;
    readonly message: string;
  },
): Promise<void> =>
  notify(tx, 'rotation-failure', [
    {
      ...owner,
      subjectId: rotationId,
      occurrence: `${trouble} ${generation}`,
      facts: { name, fields: { Error: message, State: ROTATION_STATES[trouble] } },
    },
  ]);

/** Why a project is notified of credentials that may still be valid. */
type LiveCredentials = 'given-up' | 'not-revoked' | 'orphaned';

const LIVE_STATES: Readonly<Record<LiveCredentials, string>> = {
  'given-up': 'The service no longer revokes them. If they are still valid, revoke them in the external system.',
  'not-revoked':
    'They could not be revoked for a day, and the service keeps trying. If the external system no longer exists, give them up: see credentialDebts.',
  orphaned:
    'A call that was given up may have created them. The service revokes them when the external system responds: see credentialDebts.',
};
const MOST_CREDENTIALS = 20;

/** Notifies a project of credentials in external systems that may still be valid: once per subject and reason. */
export const notifyOfLiveCredentials = (
  tx: Transaction,
  {
    subjectId,
    name,
    credentials,
    state,
    errorCode,
    ...owner
  }: InProject & {
    /** ID of a pending revocation or an attempt. */
    readonly subjectId: string;
    /** Name of the rotation. */
    readonly name: string;
    /** Targets, names and IDs, as texts. */
    readonly credentials: readonly string[];
    readonly state: LiveCredentials;
    readonly errorCode: string | null;
  },
): Promise<void> => {
  const more = credentials.length - MOST_CREDENTIALS;
  const listed = [...credentials.slice(0, MOST_CREDENTIALS), ...(more > 0 ? [`and ${more} more`] : [])];
  const fields = {
    'May be valid': listed.join('; '),
    ...(errorCode === null ? {} : { Error: errorCode }),
    State: LIVE_STATES[state],
  };
  return notify(tx, 'rotation-failure', [{ ...owner, subjectId, occurrence: state, facts: { name, fields } }]);
};

/** Titles of notices by the audit action of the change. */
const CHANGES: Readonly<Record<string, string>> = {
  'client-secret:create': 'Client secret created',
  'client-secret:revoke': 'Client secret revoked',
  'access-token:create': 'Access token created',
  'access-token:revoke': 'Access token revoked',
  'identity-token-auth:attach': 'Token authentication added',
  'identity-token-auth:remove': 'Token authentication removed',
  'identity-universal-auth:attach': 'Universal authentication added',
  'identity-universal-auth:remove': 'Universal authentication removed',
  'identity-oidc-auth:attach': 'OIDC authentication added',
  'identity-oidc-auth:remove': 'OIDC authentication removed',
  'identity-kubernetes-auth:attach': 'Kubernetes authentication added',
  'identity-kubernetes-auth:remove': 'Kubernetes authentication removed',
};

/**
 * Notifies of credential changes of identities, in the transaction that recorded them: the projects that an identity is a member of, or
 * else the admins of its organization. Tokens of users cause no notice.
 */
export async function notifyOfCredentialChanges(tx: Transaction, events: readonly AuditEvent[]): Promise<void> {
  const changes = events.flatMap(({ action, facts = {} }) => {
    const what = CHANGES[action];
    const { identityId = null, accessTokenId = null, clientSecretId = null, userId = null } = facts;
    return what === undefined || userId !== null ? [] : [{ what, identityId, accessTokenId, clientSecretId }];
  });
  if (changes.length === 0) return;
  const idOf = (id: unknown): string | null => (typeof id === 'string' ? id : null);
  const owners = await insertCredentialNotices(tx, {
    kind: 'credential-change',
    author: tx.actor.name,
    identityIds: changes.map(({ identityId }) => idOf(identityId)),
    tokenIds: changes.map(({ accessTokenId }) => idOf(accessTokenId)),
    subjectIds: changes.map(({ clientSecretId, accessTokenId }) => idOf(clientSecretId) ?? idOf(accessTokenId)),
    changes: changes.map(({ what }) => what),
    occurrences: changes.map(() => newId()),
  });
  await enqueueWriting(tx, owners);
}

/** How many days before expiration a credential causes a notice. */
const DAYS = 7;
const AT_ONCE = 500;

/** Notifies of credentials that expire within a week, once per expiration time. */
export const FIND_EXPIRING: JobKind = {
  name: 'project-notices:find-expiring',
  description: `Notifies projects of access tokens and client secrets that expire within ${DAYS} days, daily at midnight UTC.`,
  everySeconds: 86_400,
  run: async (ctx, run) => {
    await notifyOfExpiring(ctx, run, 'Access token', listExpiring({ kind: 'token' }));
    await notifyOfExpiring(ctx, run, 'Client secret', listExpiring({ kind: 'clientSecret' }));
  },
};

async function notifyOfExpiring(
  ctx: Context,
  run: JobRun,
  kind: string,
  list: ReturnType<typeof listExpiring>,
): Promise<void> {
  for (let after = { expiresAt: new Date(0), id: NO_ID }; ; ) {
    const found = await list(ctx, { days: DAYS, afterTime: after.expiresAt, afterId: after.id, most: AT_ONCE });
    const last = found.at(-1);
    if (last === undefined) return;
    await run.inTransaction((tx) =>
      notify(
        tx,
        'credential-expiry',
        found.map(({ id, label, expiresAt, identityName, organizationId, projectId }) => ({
          organizationId,
          projectId,
          subjectId: id,
          occurrence: expiresAt.toISOString(),
          facts: {
            name: identityName,
            fields: { Credential: kind, ...(label === '' ? {} : { Name: label }) },
            expiresAt: expiresAt.toISOString(),
          },
        })),
      ),
    );
    after = last;
  }
}
