import { type EntityName, LockMode } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { recipientsOf, type Source, writeMessages } from '../deliveries/public.js';
import type { ChannelRow } from './alert.queries.js';
import { openForNewMessages } from './channel-people.js';

/** What alerts of every kind have. */
interface AnyAlert {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId?: string | null;
  readonly isEnabled: boolean;
}

type AnyChannel = Omit<Parameters<typeof openForNewMessages>[1], 'table'> & Pick<ChannelRow, 'isEnabled'>;

/** A kind of alerts: of certificates, or of credentials of identities. */
interface AlertKind {
  readonly entity: EntityName<AnyAlert>;
  readonly source: Pick<Source, 'name' | 'job'>;
  readonly channelTable: string;
  readonly listChannels: (ctx: Context, of: { readonly alertIds: readonly string[] }) => Promise<readonly AnyChannel[]>;
  /** The action of its notifications in the audit trail. */
  readonly action: string;
}

const ALERTS_AT_ONCE = 1_000;

/** A job that has all enabled alerts of a kind checked once a day, at midnight UTC. */
export const dailyCheck = (
  job: Pick<JobKind, 'name' | 'description'>,
  entity: EntityName<AnyAlert>,
  enqueue: (tx: Transaction, alerts: readonly AnyAlert[], run: JobRun) => Promise<unknown>,
): JobKind => ({
  ...job,
  everySeconds: 86_400,
  run: async (ctx, run) => {
    for (let after = NO_ID; ; ) {
      const page = { orderBy: { id: 'asc' }, limit: ALERTS_AT_ONCE } as const;
      const alerts = await emOf(ctx).find(entity, { isEnabled: true, id: { $gt: after } }, page);
      if (alerts.length === 0) return;
      await run.inTransaction((tx) => enqueue(tx, alerts, run));
      after = alerts.at(-1)?.id ?? after;
    }
  },
});

/** An alert, and what it notifies of. */
interface DueAlert {
  readonly alertId: string;
  readonly event: string;
  readonly subjectIds: readonly string[];
  /** The day of a daily reminder, or what distinguishes events of the same subject. Absent: notify only once. */
  readonly occurrence?: string;
}

/**
 * Writes the messages of an alert, in the transaction that found what is due. Messages that were sent or are pending are skipped; those
 * that failed or were cancelled are sent again. Sending starts after the commit. A disabled alert notifies nobody.
 */
export async function notifyByAlert(
  tx: Transaction,
  { entity, source, channelTable: table, listChannels, action }: AlertKind,
  { alertId, ...about }: DueAlert,
): Promise<void> {
  if (about.subjectIds.length === 0) return;
  const enabled = { id: alertId, isEnabled: true };
  const alert = await tx.em.findOne(entity, enabled, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (alert === null) return;
  const { organizationId, projectId = null } = alert;
  const channels = (await listChannels(tx, { alertIds: [alertId] })).filter(({ isEnabled }) => isEnabled);
  const owner = { organizationId, projectId };
  const targets = await recipientsOf(tx, owner, channels, (channel) => openForNewMessages(tx, { ...channel, table }));
  if (!(await writeMessages(tx, source, { ...owner, ownerId: alertId, ...about }, targets))) return;
  const facts = { alertId, event: about.event, count: about.subjectIds.length };
  await tx.auditTrail.recordChange(tx, { action, projectId, facts });
}
