import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import type { Transaction } from '../../../kernel/context.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { enqueueStanding, wakeAfterCommit } from '../../../kernel/jobs/queue.js';
import { dailyCheck, notifyByAlert } from '../alerts/public.js';
import { enqueueChecksOfCredentials, listDueCredentials, secondsToNextCredential } from './credential.sql.js';
import { CREDENTIAL_SOURCE } from './credential-source.js';
import { IdentityAlert } from './identity-alert.entity.js';
import { CHANNEL_TABLE, listChannels } from './identity-alert.queries.js';

/** In one transaction, and so in one mail. */
const CREDENTIALS_AT_ONCE = 500;

/** The event as deliveries have it. */
const EVENT = 'expiry';

const KIND = {
  entity: IdentityAlert,
  source: CREDENTIAL_SOURCE,
  channelTable: CHANNEL_TABLE,
  listChannels,
  action: 'identity-alert:notify',
};

/** Has all alerts look once a day, at midnight UTC, when daily reminders begin anew. */
export const FIND_DUE_ALERTS = dailyCheck(
  {
    name: 'identity-alerts:find-due',
    description: 'Has all alerts of identities look for credentials that expire soon, daily at midnight UTC.',
  },
  IdentityAlert,
  enqueueAlertChecks,
);

/** Looks for the credentials that one alert has to notify of, and again when the next one comes within its time: a standing job. */
export const CHECK_ALERTS: JobKind = {
  name: 'identity-alerts:check',
  description: 'Looks for credentials of an identity that expire soon, and writes the notifications of one alert.',
  retry: { firstSeconds: 30, longestSeconds: 600, attempts: 1_000_000 },
  run: async (ctx, run) => {
    const alertId = run.subjectId ?? NO_ID;
    for (let after = { expiresAt: new Date(0), id: NO_ID }; ; ) {
      const place = { afterTime: after.expiresAt, afterId: after.id };
      const found = await listDueCredentials(ctx, { alertId, ...place, most: CREDENTIALS_AT_ONCE });
      const last = found.at(-1);
      if (last !== undefined)
        await run.inTransaction(async (tx) => {
          for (const [occurrence, some] of Map.groupBy(found, (credential) => credential.occurrence))
            await notifyByAlert(tx, KIND, { alertId, event: EVENT, occurrence, subjectIds: some.map(({ id }) => id) });
        });
      if (last === undefined || found.length < CREDENTIALS_AT_ONCE) break;
      after = last;
    }
    const [next] = await secondsToNextCredential(ctx, { alertId });
    return next === undefined ? undefined : { againInSeconds: next.seconds };
  },
};

/** Has alerts look for what is due now: they are new, or were changed, or their identity has other credentials. */
export async function enqueueAlertChecks(
  tx: Transaction,
  alerts: readonly { readonly id: string; readonly organizationId: string; readonly projectId?: string | null }[],
): Promise<void> {
  const requests = alerts.map(({ id, organizationId, projectId = null }) => ({
    key: id,
    subjectId: id,
    organizationId,
    projectId,
  }));
  await enqueueStanding(tx, CHECK_ALERTS, requests);
}

/** New credentials, by the actions of the audit trail. A renewed one is found at midnight before it expires again. */
const CHANGES: readonly string[] = ['client-secret:create', 'access-token:create'];

/** Has alerts look whose identities got a new credential, once the transaction has committed. */
export async function checkAfterChanges(tx: Transaction, events: readonly AuditEvent[]): Promise<void> {
  const changes = events.filter(({ action }) => CHANGES.includes(action));
  if (changes.length === 0) return;
  const idsOf = (fact: string) =>
    changes.flatMap(({ facts = {} }) => (typeof facts[fact] === 'string' ? [facts[fact]] : []));
  const wanted = { identityIds: idsOf('identityId'), tokenIds: idsOf('accessTokenId') };
  wakeAfterCommit(tx, await enqueueChecksOfCredentials(tx, { kind: CHECK_ALERTS.name, ...wanted }));
}
