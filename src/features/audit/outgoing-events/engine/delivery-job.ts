import { raw as sql } from '@mikro-orm/core';
import { settledSequence } from '../../../../kernel/audit/settled.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { unreadableCode } from '../../../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../../../kernel/database/database.js';
import { inTransaction } from '../../../../kernel/database/in-transaction.js';
import { AppError } from '../../../../kernel/errors.js';
import { NO_ID } from '../../../../kernel/ids.js';
import { type JobKind, type JobRun, targetPauseSeconds } from '../../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../../kernel/jobs/queue.js';
import { storedGauges } from '../../../../kernel/operations/metrics/store-probe.js';
import { type OutboundResponse, send, type TargetPolicy } from '../../../../kernel/outbound/http.js';
import { SIGNATURE_HEADER, signatureOf } from '../../../../kernel/outbound/signature.js';
import { type DeliveryOutcome, outcomeOf } from '../../../notifications/sending/public.js';
import type { Batch, Format, Target, TargetConfig, TargetKind } from './target.js';
import { countEnabled, findExpiredUnsent, listBehind, measureTargets } from './target.sql.js';
import { openTarget } from './target-sealing.js';

/** After this time other targets get the place of one that has more to receive. */
const LONGEST_MS = 60_000;
/** Longer than any call takes. */
const CALL_SECONDS = 30;

/**
 * The job that sends to one target what it has not received. Every target has its own standing job, whose lease only one node holds, so
 * that a target gets its events in order and a slow target delays no other. The position is stored after the target accepted a batch:
 * after a crash in between, the batch is sent again.
 */
export const deliveryJob = <T extends Target>(outlet: TargetKind<T>, policy: TargetPolicy): JobKind => ({
  ...outlet.job,
  concurrency: 16,
  concurrencyPerOrganization: 8,
  // Only failures of the service itself throw; the pauses of a failing target are stored with it.
  retry: { firstSeconds: 5, longestSeconds: 600, attempts: 1_000_000 },
  run: (ctx, run) => new Delivering(outlet, policy, ctx, run).deliver(),
});

/** One run of the job. */
class Delivering<T extends Target> {
  constructor(
    private readonly outlet: TargetKind<T>,
    private readonly policy: TargetPolicy,
    private readonly ctx: Context,
    private readonly run: JobRun,
  ) {}

  async deliver(): Promise<void> {
    const { ctx, run, outlet } = this;
    const end = performance.now() + LONGEST_MS;
    for (let isMore = true; isMore && !run.signal.aborted && performance.now() < end; ) {
      const [target] = await outlet.find(ctx, { ids: [run.subjectId ?? ''] });
      if (target === undefined || !target.isEnabled || target.isPausing) return;
      isMore = await this.#sendNext(target);
    }
  }

  /** @returns whether there may be more to send now */
  async #sendNext(target: T): Promise<boolean> {
    const { ctx, outlet } = this;
    const settled = await settledSequence(queryOf(ctx));
    const config = await openTarget(ctx, outlet.table, target).catch(unreadableCode);
    if (typeof config === 'string') return this.#fail(target, { code: config, status: null, retryAfterSeconds: null });
    const batch = await outlet.next(ctx, { target, config, settled });
    if (await this.#rewound(target)) return true;
    if (batch.body === null) return this.#advance(target, batch, { isDelivered: false, rejected: 0 });
    return this.#send(target, { config, batch, body: batch.body });
  }

  async #send(target: T, given: { config: TargetConfig; batch: Batch; body: string }): Promise<boolean> {
    const { ctx, run, outlet, policy } = this;
    await run.reserve(CALL_SECONDS);
    const format = outlet.formatOf(target);
    const { outcome, response } = await sendBody(ctx, format, { ...given, policy });
    if (outcome.result !== 'accepted') return this.#fail(target, outcome);
    const rejected = response === null ? 0 : format.rejected(response);
    return this.#advance(target, given.batch, { isDelivered: true, rejected });
  }

  /** Events that were not sent have expired: the trail says so, and the next batch tells the target. */
  async #rewound(target: T): Promise<boolean> {
    const { ctx, run, outlet } = this;
    const { id } = target;
    const [missed] = await findExpiredUnsent({ table: outlet.table })(ctx, { id });
    if (missed === undefined) return false;
    await run.inTransaction(async (tx) => {
      const values = { rewoundAt: sql('now()'), expirySeen: missed.sequence, isResetPending: true };
      await tx.em.nativeUpdate(outlet.entity, { id }, values);
      await outlet.recordRewind(tx, target);
    });
    return true;
  }

  /** Stores how far a target has received. */
  async #advance(
    { id }: T,
    { upTo, upToTime: positionAt }: Batch,
    { isDelivered, rejected }: { isDelivered: boolean; rejected: number },
  ): Promise<boolean> {
    const values = {
      position: String(upTo.sequence),
      positionIndex: upTo.index,
      positionAt: positionAt ?? sql('now()'),
      rejectedRecords: sql('rejected_records + ?', [rejected]),
      ...(isDelivered ? { failures: 0, nextAttemptAt: null, lastSuccessAt: sql('now()'), isResetPending: false } : {}),
    };
    await this.run.inTransaction((tx) => tx.em.nativeUpdate(this.outlet.entity, { id }, values));
    return positionAt !== null;
  }

  async #fail(
    { id, configVersion, failures }: T,
    { code, status, retryAfterSeconds }: { code: string; status: number | null; retryAfterSeconds: number | null },
  ): Promise<boolean> {
    const pauseSeconds = targetPauseSeconds(failures + 1, retryAfterSeconds);
    const values = {
      failures: sql('failures + 1'),
      nextAttemptAt: sql('now() + make_interval(secs => ?)', [pauseSeconds]),
      ...{ lastFailureAt: sql('now()'), lastFailure: code, lastStatus: status },
    };
    // A target that was changed meanwhile is read again.
    await this.run.inTransaction((tx) => tx.em.nativeUpdate(this.outlet.entity, { id, configVersion }, values));
    return true;
  }
}

/** Time limit of a request. */
const LIMIT_MS = 10_000;

/** Makes one attempt to send a body to a target. @throws Error inside a transaction */
async function sendBody(
  ctx: Context,
  { contentType, maxResponseBytes }: Format,
  { config, body, policy }: { config: TargetConfig; body: string; policy: TargetPolicy },
): Promise<{ readonly outcome: DeliveryOutcome; readonly response: OutboundResponse | null }> {
  const { url, signingSecret, headers } = config;
  let response: OutboundResponse | null = null;
  const attempt = send(
    ctx,
    {
      url,
      method: 'POST',
      headers: {
        ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
        'Content-Type': contentType,
        ...(signingSecret === null ? {} : { [SIGNATURE_HEADER]: signatureOf(signingSecret, body) }),
      },
      body,
      limitMs: LIMIT_MS,
      maxResponseBytes,
    },
    policy,
  ).then((received) => {
    response = received;
  });
  const outcome = await outcomeOf(attempt);
  return { outcome, response };
}

/** The result of a test. */
export interface DeliveryTest {
  readonly isAccepted: boolean;
  /** Null if accepted. */
  readonly errorCode: string | null;
  /** HTTP status of the response; null without one, and if accepted. */
  readonly status: number | null;
}

/** Sends a body once, whether the target is enabled or not. */
export async function testTarget(
  ctx: Context,
  format: Format,
  {
    open,
    bodyOf,
    policy,
  }: { open: () => Promise<TargetConfig>; bodyOf: (config: TargetConfig) => string; policy: TargetPolicy },
): Promise<DeliveryTest> {
  try {
    const config = await open();
    const { outcome } = await sendBody(ctx, format, { config, body: bodyOf(config), policy });
    if (outcome.result === 'accepted') return { isAccepted: true, errorCode: null, status: null };
    return { isAccepted: false, errorCode: outcome.code, status: outcome.status };
  } catch (error) {
    return { isAccepted: false, errorCode: unreadableCode(error), status: null };
  }
}

const FOLLOW = 'outgoing-events:follow';
const PAUSE_SECONDS = 1;
const HAS_TARGETS =
  'Change webhooks and audit sinks are delivered only as long as this job runs. Disable them, or pause the kind of jobs with pauseJobKind.';

/** Has the job run that follows the trail, of which there is one for the installation. */
export const enqueueDispatch = (tx: Transaction): Promise<void> =>
  enqueueStanding(tx, { name: FOLLOW }, [{ key: 'all', organizationId: null }]);

/** The job that wakes the jobs of targets when there are new events for them, as long as there are targets. */
export const dispatchJob = (outlets: readonly Pick<TargetKind, 'job' | 'table'>[]): JobKind => ({
  name: FOLLOW,
  description:
    'Starts the delivery of new events to change webhooks and audit sinks, every second while there are any.',
  staysInside: true,
  concurrency: 1,
  retry: { firstSeconds: 1, longestSeconds: 60, attempts: 1_000_000 },
  onCancel: async (tx) => {
    const [{ enabled = 0 } = {}] = await countEnabled(tx, {});
    if (enabled > 0) throw new AppError('JOB_IS_NEEDED', HAS_TARGETS);
  },
  run: async (ctx, run) => {
    const settled = String(await settledSequence(queryOf(ctx)));
    await run.inTransaction(async (tx) => {
      for (const { job, table } of outlets) {
        const targets = await listBehind({ table })(tx, { settled });
        await enqueueStanding(
          tx,
          job,
          targets.map((target) => ({ ...target, key: target.id, subjectId: target.id })),
        );
      }
    });
    const [{ enabled = 0 } = {}] = await countEnabled(ctx, {});
    return enabled === 0 ? undefined : { againInSeconds: PAUSE_SECONDS };
  },
});

/** Has the trail followed from the start of the service if there are targets: the job may have been cancelled. */
export async function resumeDispatch(contextOf: (organizationId: string) => Context): Promise<void> {
  const ctx = contextOf(NO_ID);
  const [{ enabled = 0 } = {}] = await countEnabled(ctx, {});
  if (enabled > 0) await inTransaction(ctx, enqueueDispatch);
}

/** Change webhooks and audit sinks in the metrics. */
export const DELIVERY_GAUGES = storedGauges({
  read: (query) => measureTargets(query, {}),
  labels: { kind: 'kind' },
  gauges: [
    {
      name: 'strongroom_deliveries_enabled',
      help: 'Enabled change webhooks and audit sinks.',
      value: ({ enabled }) => enabled,
    },
    {
      name: 'strongroom_deliveries_failing',
      help: 'Change webhooks and audit sinks whose last delivery failed.',
      value: ({ failing }) => failing,
    },
    {
      name: 'strongroom_delivery_lag_seconds',
      help: 'Age of the oldest record that a change webhook or an audit sink has not received, of the one furthest behind.',
      value: ({ lagSeconds }) => lagSeconds,
    },
  ],
});
