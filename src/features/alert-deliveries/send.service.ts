import type { Context } from '../../kernel/context.js';
import { backoffSeconds } from '../../kernel/jobs/backoff.js';
import type { Again, JobKind, JobRun } from '../../kernel/jobs/job-kind.js';
import { openConfig } from '../alerts/public.js';
import { type Notifier, type Outcome, type Target, targetsOf } from '../notifications/public.js';
import {
  cancelMessages,
  deferMessages,
  findSender,
  listDueMessages,
  listMessageCertificates,
  secondsToNextMessage,
  settleMessage,
} from './delivery.sql.js';
import { notificationOf } from './notification-of.js';
import { digestsOf } from './recipients.js';
import { SEND } from './send-kind.js';

/** From half a minute to six hours. Source: reliability P7. */
const RETRY = { firstSeconds: 30, longestSeconds: 21_600, attempts: Number.POSITIVE_INFINITY };
const AT_ONCE = 20;
/** Well below what an attempt may take: a slow target that accepts is no failure. */
const LONGEST_MS = 300_000;
/** More than any call takes. */
const CALL_SECONDS = 60;

type Channel = Awaited<ReturnType<typeof findSender>>[number];
type DueMessage = Awaited<ReturnType<typeof listDueMessages>>[number];

/**
 * Sends what waits at channels. A message is sent before its row says so: after a crash between the two it is sent again, with the
 * same id, and never once the row says sent. Source: decisions 7.5, reliability P7.
 */
export class SendService {
  readonly job: JobKind = { ...SEND, run: (ctx, run) => this.send(ctx, run) };

  constructor(private readonly notifier: Pick<Notifier, 'deliver'>) {}

  private async send(ctx: Context, run: JobRun): Promise<Again | undefined> {
    const channelId = run.subjectId ?? '';
    const end = performance.now() + LONGEST_MS;
    for (let isBlocked = false; !isBlocked && !run.signal.aborted && performance.now() < end; ) {
      const [channel] = await findSender(ctx, { channelId });
      if (channel === undefined || !channel.isEnabled) {
        const errorCode = channel === undefined ? 'CHANNEL_REMOVED' : 'CHANNEL_DISABLED';
        await run.inTransaction((tx) => cancelMessages(tx, { channelIds: [channelId], errorCode }));
        break;
      }
      const messages = await listDueMessages(ctx, { channelId, most: AT_ONCE });
      if (messages.length === 0) break;
      isBlocked = await this.sendAll(ctx, run, { channel, messages });
    }
    const [next] = await secondsToNextMessage(ctx, { channelId });
    return next?.seconds == null ? undefined : { againInSeconds: next.seconds };
  }

  /** @returns whether the target takes nothing at present */
  private async sendAll(
    ctx: Context,
    run: JobRun,
    { channel, messages }: { channel: Channel; messages: readonly DueMessage[] },
  ): Promise<boolean> {
    const targets = await targetsByRecipient(ctx, channel);
    for (const message of messages) {
      if (run.signal.aborted) return true;
      // Disabled, or with another address: the caller looks anew.
      if (!(await isAsBefore(ctx, channel))) return false;
      const target = targets.get(message.recipient.toString('hex'));
      const attempt = await this.sendOne(ctx, run, { channel, message, target });
      if (await settle(run, { channel, message, attempt })) return true;
    }
    return false;
  }

  private async sendOne(
    ctx: Context,
    run: JobRun,
    { channel, message, target }: { channel: Channel; message: DueMessage; target: Target | undefined },
  ): Promise<Attempt> {
    const named = await listMessageCertificates(ctx, { messageId: message.id });
    if (named.length === 0) return { outcome: 'failed', errorCode: 'CERTIFICATES_REMOVED' };
    if (target === undefined) return { outcome: 'failed', errorCode: 'RECIPIENT_REMOVED' };
    await run.reserve(CALL_SECONDS);
    const notification = notificationOf(channel, message.event, named);
    return attemptOf(channel, await this.notifier.deliver(ctx, { id: message.id, target, notification }));
  }
}

/** What came of an attempt, as it is written down. */
type Attempt =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed'; readonly errorCode: string }
  | {
      readonly outcome: 'temporary';
      readonly errorCode: string;
      /** Other messages at this channel would meet the same. */
      readonly isOfTarget: boolean;
      readonly retryAfterSeconds: number | null;
    };

function attemptOf({ channelType }: Channel, outcome: Outcome): Attempt {
  if (outcome.result === 'accepted') return { outcome: 'sent' };
  const { code: errorCode, retryAfterSeconds } = outcome;
  if (outcome.result === 'permanent') return { outcome: 'failed', errorCode };
  // A mail server that rejects one recipient for now may take the others.
  const isOfTarget = channelType !== 'email' || errorCode !== 'TARGET_REJECTED';
  return { outcome: 'temporary', errorCode, isOfTarget, retryAfterSeconds };
}

/** Writes down what came of a message. @returns whether the target takes nothing at present */
async function settle(
  run: JobRun,
  { channel, message, attempt }: { channel: Channel; message: DueMessage; attempt: Attempt },
): Promise<boolean> {
  const attempts = message.attempts + 1;
  const asked = attempt.outcome === 'temporary' ? Math.min(attempt.retryAfterSeconds ?? 0, RETRY.longestSeconds) : 0;
  const pauseSeconds = Math.max(backoffSeconds(RETRY, attempts, Math.random()) ?? 0, asked);
  const isBlocked = attempt.outcome === 'temporary' && attempt.isOfTarget;
  await run.inTransaction(async (tx) => {
    if (isBlocked)
      await deferMessages(tx, { channelId: channel.id, attempts, pauseSeconds, errorCode: attempt.errorCode });
    else
      await settleMessage(tx, {
        id: message.id,
        outcome: attempt.outcome,
        pauseSeconds,
        errorCode: attempt.outcome === 'sent' ? null : attempt.errorCode,
      });
  });
  return isBlocked;
}

/** Whether a channel still is what it was, so that what it was told may go where it went. */
async function isAsBefore(ctx: Context, { id, configVersion }: Channel): Promise<boolean> {
  const [now] = await findSender(ctx, { channelId: id });
  return now?.isEnabled === true && now.configVersion === configVersion;
}

/** Targets of a channel by the recipient as the ledger has it. */
async function targetsByRecipient(ctx: Context, channel: Channel): Promise<ReadonlyMap<string, Target>> {
  const targets = targetsOf(channel.channelType, await openConfig(ctx, channel));
  const digests = await digestsOf(ctx, channel.projectId, targets);
  return new Map(targets.map((target, at) => [(digests[at] as Buffer).toString('hex'), target]));
}
