import type { Context, Transaction } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import { failedOnData } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { queue } from '../../../kernel/jobs/queue.js';
import type { CertificateEvent } from '../../certificates/public.js';
import { CERTIFICATE_CHANNELS, CertificateAlert, dailyCheck, listChannels, notifyByAlert } from '../alerts/public.js';
import { wakeSenders } from '../deliveries/public.js';
import { listUnsentSubjects } from './alert-delivery.queries.js';
import { findSubjects, listAlertStates, type Subject } from './alert-delivery.sql.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';
import { ALL_ALERTS, findCandidates, matchingCertificates, type Position, verdictsOf } from './matching.js';

/** Batch sizes: one certificate may have thousands of names. */
const CERTIFICATES_AT_ONCE = 200;
/** Certificates per transaction, and so per email. */
const NOTIFIED_AT_ONCE = 1_000;

const KIND = {
  entity: CertificateAlert,
  source: CERTIFICATE_SOURCE,
  channelTable: CERTIFICATE_CHANNELS.table,
  listChannels,
  action: 'certificate-alert:notify',
};

/** For so long after an event, its messages that were not accepted are sent again. */
const EVENT_DAYS = 7;

/** Queues a check of every enabled alert once a day, at midnight UTC. */
export const FIND_DUE_ALERTS = dailyCheck(
  {
    name: 'certificate-alerts:find-due',
    description: 'Queues a check of every certificate alert, daily at midnight UTC.',
  },
  CertificateAlert,
  (tx, alerts, { queuedAt }) =>
    queue(
      tx,
      CHECK_ALERTS,
      alerts.map(({ id, organizationId, projectId = null }) => ({
        key: `${id} ${queuedAt.toISOString()}`,
        organizationId,
        projectId,
        subjectId: id,
      })),
    ),
);

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
 * Notifies of expiring certificates: once, or once a day. An authority keeps its ID when its certificate is renewed, so its deliveries
 * identify the certificate by its serial number.
 */
async function notifyOfExpiry(
  tx: Transaction,
  { id: alertId, today }: { readonly id: string; readonly today: string | null },
  due: readonly Subject[],
): Promise<void> {
  const groups = Map.groupBy(due, ({ isAuthority, serialNumber }) => today ?? (isAuthority ? serialNumber : ''));
  for (const [occurrence, certificates] of groups) {
    const subjectIds = certificates.map(({ id }) => id);
    await notifyByAlert(tx, KIND, { alertId, event: 'expiration', subjectIds, occurrence });
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
    const subjectIds = certificates.map(({ id }) => id);
    await run.inTransaction((tx) => notifyByAlert(tx, KIND, { alertId, event, subjectIds }));
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
          ? notifyByAlert(tx, KIND, { alertId, event: eventType, subjectIds: [certificateId] })
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
