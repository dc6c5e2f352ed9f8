import { LockMode } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import { failedOnData } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { queue } from '../../../kernel/jobs/queue.js';
import type { CertificateEvent } from '../../certificates/public.js';
import { CertificateAlert, type EventType, listChannels, openForNewMessages } from '../alerts/public.js';
import { recipientsOf, wakeSenders, writeMessages } from '../deliveries/public.js';
import { listUnsentSubjects } from './alert-delivery.queries.js';
import { findSubjects, listAlertStates, type Subject } from './alert-delivery.sql.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';
import { ALL_ALERTS, findCandidates, matchingCertificates, type Position, verdictsOf } from './matching.js';

const DAY_SECONDS = 86_400;
const ALERTS_AT_ONCE = 1_000;
/** Batch sizes: one certificate may have thousands of names. */
const CERTIFICATES_AT_ONCE = 200;
/** Certificates per transaction, and so per email. */
const NOTIFIED_AT_ONCE = 1_000;

/** For so long after an event, its messages that were not accepted are sent again. */
const EVENT_DAYS = 7;

/** Queues a check of every enabled alert once a day, at midnight UTC. */
export const FIND_DUE_ALERTS: JobKind = {
  name: 'certificate-alerts:find-due',
  description: 'Queues a check of every certificate alert, daily at midnight UTC.',
  everySeconds: DAY_SECONDS,
  run: async (ctx, run) => {
    for (let after = NO_ID; ; ) {
      const page = { orderBy: { id: 'asc' }, limit: ALERTS_AT_ONCE } as const;
      const alerts = await emOf(ctx).find(CertificateAlert, { isEnabled: true, id: { $gt: after } }, page);
      if (alerts.length === 0) return;
      await run.inTransaction((tx) =>
        queue(
          tx,
          CHECK_ALERTS,
          alerts.map(({ id, organizationId, projectId }) => ({
            key: `${id} ${run.queuedAt.toISOString()}`,
            organizationId,
            projectId,
            subjectId: id,
          })),
        ),
      );
      after = alerts.at(-1)?.id ?? after;
    }
  },
};

/** Finds the certificates that one expiration alert is due for, or those of an event whose messages were not accepted. */
export const CHECK_ALERTS: JobKind = {
  name: 'certificate-alerts:check',
  description: 'Finds the certificates that an expiration alert is due for, or whose messages were not accepted.',
  run: async (ctx, run) => {
    const alert = await emOf(ctx).findOne(CertificateAlert, { id: run.subjectId ?? NO_ID, isEnabled: true });
    if (alert === null) return;
    if (alert.eventType !== 'expiration') return notifyAgain(ctx, run, alert);
    const { id, projectId, alertBefore: period, filters } = alert;
    const today = alert.isDailyReminder ? (await databaseNow(ctx)).toISOString().slice(0, 10) : null;
    let after: Position | null = null;
    for (let found: Subject[] = []; ; ) {
      const search = { projectId, period, filters: filters ?? [], after };
      const [page = []] = await findCandidates(ctx, [search], CERTIFICATES_AT_ONCE);
      found.push(...(await matchingCertificates(search.filters, page)));
      const isLast = page.length < CERTIFICATES_AT_ONCE;
      if (isLast || found.length >= NOTIFIED_AT_ONCE) {
        await run.inTransaction((tx) => notifyOfExpiry(tx, { id, today }, found));
        found = [];
      }
      if (isLast) return;
      after = page.at(-1) ?? after;
    }
  },
};

/**
 * Notifies of expiring certificates: once, or once a day. An authority keeps its ID when its certificate is renewed, so the ledger
 * identifies the certificate by its serial number.
 */
async function notifyOfExpiry(
  tx: Transaction,
  { id: alertId, today }: { readonly id: string; readonly today: string | null },
  due: readonly Subject[],
): Promise<void> {
  const groups = Map.groupBy(due, ({ isAuthority, serialNumber }) => today ?? (isAuthority ? serialNumber : ''));
  for (const [occurrence, certificates] of groups) {
    const certificateIds = certificates.map(({ id }) => id);
    await notify(tx, { alertId, event: 'expiration', certificateIds, occurrence });
  }
}

/** Notifies again of events whose messages were not accepted, as far as the filters of the alert still match. */
async function notifyAgain(
  ctx: Context,
  run: JobRun,
  { id: alertId, eventType: event, filters }: CertificateAlert,
): Promise<void> {
  for (let after = NO_ID; ; ) {
    const unsent = { alertId, days: EVENT_DAYS, after, most: CERTIFICATES_AT_ONCE };
    const ids = (await listUnsentSubjects(ctx, unsent)).map(({ id }) => id);
    if (ids.length === 0) return;
    const certificates = await matchingCertificates(filters ?? [], await findSubjects(ctx, { ids }));
    const certificateIds = certificates.map(({ id }) => id);
    await run.inTransaction((tx) => notify(tx, { alertId, event, certificateIds }));
    after = ids.at(-1) ?? after;
  }
}

type EventName = CertificateEvent['event'];

const eventJob = (event: EventName): JobKind => ({
  name: `certificate-alerts:${event}`,
  description: `Notifies alerts of the ${event} of a certificate, and of its expiration if that is already due.`,
  run: (ctx, run) => notifyOfEvent(ctx, run, event),
});
const EVENT_JOBS: Readonly<Record<EventName, JobKind>> = {
  import: eventJob('import'),
  issuance: eventJob('issuance'),
  renewal: eventJob('renewal'),
  revocation: eventJob('revocation'),
};

/** The jobs that find out what alerts have to notify of. */
export const DUE_JOBS: readonly JobKind[] = [FIND_DUE_ALERTS, CHECK_ALERTS, ...Object.values(EVENT_JOBS)];

async function notifyOfEvent(ctx: Context, run: JobRun, event: EventName): Promise<void> {
  const certificateId = run.subjectId ?? NO_ID;
  const [certificate] = await findSubjects(ctx, { ids: [certificateId] });
  if (certificate === undefined) return;
  const states = await listAlertStates(ctx, { certificateId, ...ALL_ALERTS });
  const verdicts = await verdictsOf(certificate, states);
  const failures: unknown[] = [];
  for (const [at, state] of states.entries()) {
    const { id: alertId, eventType } = state;
    const isOfEvent = eventType === event && verdicts[at] === 'no_event';
    if (!isOfEvent && verdicts[at] !== 'due') continue;
    await run
      .inTransaction((tx) =>
        // Alerts have no event for imports: whoever imports a certificate got it from elsewhere.
        isOfEvent
          ? notify(tx, { alertId, event: eventType, certificateIds: [certificateId] })
          : notifyOfExpiry(tx, state, [certificate]),
      )
      .catch((error: unknown) => {
        // Of this alert alone: the others are notified, and this one is tried again.
        if (!failedOnData(error)) throw error;
        failures.push(error);
      });
  }
  if (failures.length > 0) throw failures[0];
}

/** Notifies alerts of a certificate event after the transaction commits. */
export async function notifyOfCertificateEvent(
  tx: Transaction,
  { certificateId, organizationId, projectId, event }: CertificateEvent,
): Promise<void> {
  const key = certificateId;
  await queue(tx, EVENT_JOBS[event], [{ key, organizationId, projectId, subjectId: certificateId }]);
}

/** Checks an alert right after it was created or updated, and has its senders look: messages of an alert that is disabled are cancelled. */
export async function enqueueAlertCheck(
  tx: Transaction,
  alert: { readonly id: string; readonly organizationId: string; readonly projectId: string; readonly version: number },
  configuredIds: readonly string[],
): Promise<void> {
  const { id, organizationId, projectId, version } = alert;
  await queue(tx, CHECK_ALERTS, [{ key: `${id} version ${version}`, organizationId, projectId, subjectId: id }]);
  await wakeSenders(tx, CERTIFICATE_SOURCE, { ownerId: id, organizationId, projectId }, configuredIds);
}

/** An alert, and the certificates that it notifies of. */
interface Notice {
  readonly alertId: string;
  readonly event: EventType;
  readonly certificateIds: readonly string[];
  /** The day of a daily reminder. Absent: notify only once. */
  readonly occurrence?: string;
}

/**
 * Notifies of certificates, in the transaction that found them. Messages that were sent or are pending are skipped; those that failed or
 * were cancelled are sent again. Sending starts after the commit. A disabled alert notifies nobody.
 */
async function notify(tx: Transaction, { alertId, event, certificateIds, occurrence }: Notice): Promise<void> {
  if (certificateIds.length === 0) return;
  const enabled = { id: alertId, isEnabled: true };
  const alert = await tx.em.findOne(CertificateAlert, enabled, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (alert === null) return;
  const { organizationId, projectId } = alert;
  const channels = (await listChannels(tx, { alertIds: [alertId] })).filter(({ enabled }) => enabled);
  const targets = await recipientsOf(tx, alert, channels, (channel) => openForNewMessages(tx, channel));
  const messages = { organizationId, projectId, ownerId: alertId, event, subjectIds: certificateIds };
  const isNew = await writeMessages(
    tx,
    CERTIFICATE_SOURCE,
    occurrence === undefined ? messages : { ...messages, occurrence },
    targets,
  );
  if (!isNew) return;
  await tx.auditTrail.recordChange(tx, {
    action: 'certificate-alert:notify',
    projectId,
    facts: { alertId, event, count: certificateIds.length },
  });
}
