import { raw as sql } from '@mikro-orm/core';
import type { Context } from '../../../kernel/context.js';
import { unreadableCode } from '../../../kernel/crypto/sealed-text.js';
import { emOf } from '../../../kernel/database/database.js';
import { AppError, nullOnData } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import { type Again, type JobKind, type JobRun, targetPauseSeconds } from '../../../kernel/jobs/job-kind.js';
import type { DeliveryOutcome, Notifier, Target } from '../sending/public.js';
import { type MessageState, NotificationMessage } from './message.entity.js';
import { secondsToNextMessage } from './message.queries.js';
import { deferMessages } from './message.sql.js';
import { digestsOf, isForUndecryptableChannel } from './recipients.js';
import { GIVE_UP_SECONDS, type Sender, type Source, splitByRecipient } from './writing.js';

const AT_ONCE = 20;
/** Well below the timeout of an attempt: a slow target that accepts has not failed. */
const LONGEST_MS = 300_000;
/** Longer than any call takes. */
const CALL_SECONDS = 60;
const HAS_MESSAGES =
  'Messages of the channel wait to be sent. Disable the channel or its alert to cancel them: they are sent only as long as this job runs.';

type DueMessage = Pick<NotificationMessage, 'id' | 'channelType' | 'recipient' | 'event' | 'attempts'>;
type Deliver = Pick<Notifier, 'deliver'>;

/**
 * The job that sends the pending messages of one channel. Every channel has its own standing job, so a target that hangs delays no
 * other, and a failing target has its own pauses. A message is sent before its row says so: after a crash in between it is sent again
 * with the same ID, and never after the row says sent.
 */
export const sendJob = <S extends Sender>(source: Source<S>, notifier: Deliver): JobKind => ({
  ...source.job,
  concurrency: 16,
  concurrencyPerOrganization: 8,
  leaseSeconds: 30,
  limitSeconds: 600,
  // Only failures of the service itself throw here; the pauses of a failing target are stored in its messages.
  retry: { firstSeconds: 30, longestSeconds: 600, attempts: 1_000_000 },
  onCancel: async (tx, { subjectId }) => {
    const waiting = await secondsToNextMessage(tx, { channelId: subjectId ?? NO_ID });
    if (waiting.length > 0) throw new AppError('JOB_IS_NEEDED', HAS_MESSAGES);
  },
  run: (ctx, run) => new Sending(source, notifier, ctx, run).send(),
});

/** One run of the job. */
class Sending<S extends Sender> {
  constructor(
    private readonly source: Source<S>,
    private readonly notifier: Deliver,
    private readonly ctx: Context,
    private readonly run: JobRun,
  ) {}

  async send(): Promise<Again | undefined> {
    const { ctx, run, source } = this;
    const channelId = run.subjectId ?? '';
    const end = performance.now() + LONGEST_MS;
    for (let isBlocked = false; !isBlocked && !run.signal.aborted && performance.now() < end; ) {
      const sender = await source.find(ctx, channelId);
      if (sender === undefined || !sender.isEnabled) {
        const errorCode = sender === undefined ? 'CHANNEL_REMOVED' : 'CHANNEL_DISABLED';
        await run.inTransaction(async (tx) => {
          if (sender !== undefined) await source.lock(tx, sender);
          // One that was enabled in the meantime keeps its messages.
          if ((await source.find(tx, channelId))?.isEnabled === true) return;
          const cancelled = { state: 'cancelled', nextAt: null, endedAt: sql('now()'), errorCode } as const;
          await tx.em.nativeUpdate(NotificationMessage, { channelId, nextAt: { $ne: null } }, cancelled);
        });
        break;
      }
      const isDue = { channelId, nextAt: { $lte: sql('now()') } };
      const longestOverdue = { orderBy: { nextAt: 'asc', id: 'asc' }, limit: AT_ONCE } as const;
      const messages = await emOf(ctx).find(NotificationMessage, isDue, longestOverdue);
      if (messages.length === 0) break;
      isBlocked = await this.sendAll(sender, messages);
    }
    const [next] = await secondsToNextMessage(ctx, { channelId });
    return next === undefined ? undefined : { againInSeconds: next.seconds };
  }

  /** @returns whether the target currently accepts nothing */
  private async sendAll(sender: S, messages: readonly DueMessage[]): Promise<boolean> {
    const targets = await this.targetsByRecipient(sender).catch(unreadableCode);
    for (const message of messages) {
      if (this.run.signal.aborted) return true;
      // Disabled or changed in the meantime: the caller reads it again.
      if (!(await this.isAsBefore(sender))) return false;
      if (
        typeof targets !== 'string' &&
        sender.channelType === 'email' &&
        isForUndecryptableChannel(message) &&
        targets.size > 0
      ) {
        await this.splitByRecipient(sender, message, targets);
        continue;
      }
      const attempt =
        typeof targets === 'string'
          ? unreadable(targets)
          : await this.sendOne(sender, {
              message,
              target: targets.get(Buffer.from(message.recipient).toString('hex')),
            });
      if (await storeAttempt(this.run, { sender, message, attempt })) return true;
    }
    return false;
  }

  /** The recipients of a message are known by now: each gets its own, which is sent next. */
  private async splitByRecipient(sender: S, { id }: DueMessage, targets: ReadonlyMap<string, Target>) {
    const { source, run } = this;
    const { id: channelId, channelType } = sender;
    const recipients = [...targets.keys()].map((hex) => ({
      channelId,
      channelType,
      recipient: Buffer.from(hex, 'hex'),
    }));
    await run.inTransaction(async (tx) => {
      await source.lock(tx, sender);
      await splitByRecipient(tx, source, { id, targets: recipients });
    });
  }

  private async sendOne(
    sender: S,
    { message, target }: { message: DueMessage; target: Target | undefined },
  ): Promise<Attempt> {
    const notification = await this.source.compose(this.ctx, sender, message).catch(nullOnData);
    if (notification === null) return INCOMPOSABLE;
    if ('errorCode' in notification) return { outcome: 'cancelled', ...notification };
    if (target === undefined) return { outcome: 'failed', errorCode: 'RECIPIENT_REMOVED' };
    await this.run.reserve(CALL_SECONDS);
    return attemptOf(sender, await this.notifier.deliver(this.ctx, { id: message.id, target, notification }));
  }

  /** Whether a channel is still enabled with the same config. */
  private async isAsBefore({ id, configVersion }: S): Promise<boolean> {
    const now = await this.source.find(this.ctx, id);
    return now?.isEnabled === true && now.configVersion === configVersion;
  }

  /** Targets of a channel, by recipient as deliveries name it. */
  private async targetsByRecipient(sender: S): Promise<ReadonlyMap<string, Target>> {
    const targets = await this.source.targets(this.ctx, sender);
    const digests = await digestsOf(this.ctx, sender, targets);
    return new Map(targets.map((target, at) => [(digests[at] as Buffer).toString('hex'), target]));
  }
}

/** The result of an attempt, as it is stored. */
type Attempt =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed' | 'cancelled'; readonly errorCode: string }
  | {
      readonly outcome: 'temporary';
      readonly errorCode: string;
      /** Other messages of this channel would fail the same way. */
      readonly isOfTarget: boolean;
      readonly retryAfterSeconds: number | null;
    };

/** For a config that cannot be decrypted: it can be replaced, or the key enabled or restored. */
const unreadable = (errorCode: string): Attempt => ({
  outcome: 'temporary',
  errorCode,
  isOfTarget: true,
  retryAfterSeconds: null,
});
/** While a key is disabled nothing is given up, and nobody is called: messages follow soon after it is enabled. */
const DISABLED = { errorCode: 'KEY_DISABLED', pauseSeconds: 60, extendSeconds: GIVE_UP_SECONDS } as const;

/** For what one message is about: those behind it are sent. */
const INCOMPOSABLE: Attempt = {
  outcome: 'temporary',
  errorCode: 'INTERNAL',
  isOfTarget: false,
  retryAfterSeconds: null,
};

function attemptOf({ channelType }: Sender, outcome: DeliveryOutcome): Attempt {
  if (outcome.result === 'accepted') return { outcome: 'sent' };
  const { code: errorCode, retryAfterSeconds } = outcome;
  if (outcome.result === 'permanent') return { outcome: 'failed', errorCode };
  // A mail server that rejects one recipient temporarily may accept others.
  const isOfTarget = channelType !== 'email' || errorCode !== 'TARGET_REJECTED';
  return { outcome: 'temporary', errorCode, isOfTarget, retryAfterSeconds };
}

/** Stores the result of an attempt. @returns whether the target currently accepts nothing */
async function storeAttempt(
  run: JobRun,
  { sender, message, attempt }: { sender: Sender; message: DueMessage; attempt: Attempt },
): Promise<boolean> {
  const attempts = message.attempts + 1;
  const requestedSeconds = attempt.outcome === 'temporary' ? attempt.retryAfterSeconds : null;
  const backoff = targetPauseSeconds(attempts, requestedSeconds);
  const isDisabled = attempt.outcome === 'temporary' && attempt.errorCode === DISABLED.errorCode;
  const { pauseSeconds, extendSeconds } = isDisabled ? DISABLED : { pauseSeconds: backoff, extendSeconds: 0 };
  const isBlocked = attempt.outcome === 'temporary' && attempt.isOfTarget;
  await run.inTransaction(async (tx) => {
    if (isBlocked)
      await deferMessages(tx, {
        channelId: sender.id,
        attempts,
        pauseSeconds,
        extendSeconds,
        errorCode: attempt.errorCode,
      });
    else
      await tx.em.nativeUpdate(
        NotificationMessage,
        { id: message.id, state: 'pending' },
        {
          attempts: sql('attempts + 1'),
          errorCode: attempt.outcome === 'sent' ? null : attempt.errorCode,
          ...(attempt.outcome === 'temporary'
            ? pausedFor(pauseSeconds)
            : { state: attempt.outcome, nextAt: null, endedAt: sql('now()') }),
        },
      );
  });
  return isBlocked;
}

/** Pending until a pause ends; failed if that is past the deadline. */
function pausedFor(seconds: number) {
  const end = 'now() + make_interval(secs => ?)';
  return {
    state: sql<MessageState>(`case when ${end} > give_up_at then 'failed' else 'pending' end`, [seconds]),
    nextAt: sql<Date | null>(`case when ${end} <= give_up_at then ${end} end`, [seconds, seconds]),
    endedAt: sql<Date | null>(`case when ${end} > give_up_at then now() end`, [seconds]),
  };
}
