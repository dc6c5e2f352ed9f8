import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { NO_ID, newId } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { insertCredentialNotices, listExpiring } from './notice.sql.js';
import { enqueueWriting, notify } from './notices.js';

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
