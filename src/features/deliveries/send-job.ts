import type { Context } from '../../kernel/context.js';
import { backoffSeconds } from '../../kernel/jobs/backoff.js';
import type { Again, JobKind, JobRun } from '../../kernel/jobs/job-kind.js';
import type { Notifier, Outcome, Target } from '../notifications/public.js';
import { deferMessages, listDueMessages, secondsToNextMessage, settleMessage } from './message.sql.js';
import { digestsOf, orUnreadable } from './recipients.js';
import type { Sender, Source } from './source.js';

/** From half a minute to six hours. Source: reliability P7. */
const RETRY = { firstSeconds: 30, longestSeconds: 21_600, attempts: Number.POSITIVE_INFINITY };
const AT_ONCE = 20;
/** Well below what an attempt may take: a slow target that accepts is no failure. */
const LONGEST_MS = 300_000;
/** More than any call takes. */
const CALL_SECONDS = 60;

type DueMessage = Awaited<ReturnType<typeof listDueMessages>>[number];
type Deliver = Pick<Notifier, 'deliver'>;

/**
 * The job that sends what waits at one channel, a standing one for each: a target that hangs holds up no other, and one that fails
 * has a pause of its own. A message is sent before its row says so: after a crash between the two it is sent again, with the same id,
 * and never once the row says sent.
 *
 * Source: decisions 7.5, reliability P7.
 */
export const sendJob = <S extends Sender>(source: Source<S>, notifier: Deliver): JobKind => ({
  ...source.job,
  concurrency: 16,
  concurrencyPerOrganization: 8,
  leaseSeconds: 30,
  limitSeconds: 600,
  // What fails here is the service itself; a target that fails has its pauses in its messages.
  retry: { firstSeconds: 30, longestSeconds: 600, attempts: 1_000_000 },
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
        await run.inTransaction((tx) => source.cancel(tx, { channelId, errorCode }));
        break;
      }
      const messages = await listDueMessages(ctx, { channelId, most: AT_ONCE });
      if (messages.length === 0) break;
      isBlocked = await this.sendAll(sender, messages);
    }
    const [next] = await secondsToNextMessage(ctx, { channelId });
    return next === undefined ? undefined : { againInSeconds: next.seconds };
  }

  /** @returns whether the target takes nothing at present */
  private async sendAll(sender: S, messages: readonly DueMessage[]): Promise<boolean> {
    const targets = await this.targetsByRecipient(sender).catch(orUnreadable);
    for (const message of messages) {
      if (this.run.signal.aborted) return true;
      // Disabled, or with another address: the caller looks anew.
      if (!(await this.isAsBefore(sender))) return false;
      const target = targets?.get(message.recipient.toString('hex'));
      const attempt = targets === null ? UNREADABLE : await this.sendOne(sender, { message, target });
      if (await settle(this.run, { sender, message, attempt })) return true;
    }
    return false;
  }

  private async sendOne(
    sender: S,
    { message, target }: { message: DueMessage; target: Target | undefined },
  ): Promise<Attempt> {
    const notification = await this.source.compose(this.ctx, sender, message);
    if ('errorCode' in notification) return { outcome: 'failed', ...notification };
    if (target === undefined) return { outcome: 'failed', errorCode: 'RECIPIENT_REMOVED' };
    await this.run.reserve(CALL_SECONDS);
    return attemptOf(sender, await this.notifier.deliver(this.ctx, { id: message.id, target, notification }));
  }

  /** Whether a channel is still enabled and has the same config. */
  private async isAsBefore({ id, configVersion }: S): Promise<boolean> {
    const now = await this.source.find(this.ctx, id);
    return now?.isEnabled === true && now.configVersion === configVersion;
  }

  /** Targets of a channel by the recipient as the ledger has it. */
  private async targetsByRecipient(sender: S): Promise<ReadonlyMap<string, Target>> {
    const targets = await this.source.targets(this.ctx, sender);
    const digests = await digestsOf(this.ctx, sender, targets);
    return new Map(targets.map((target, at) => [(digests[at] as Buffer).toString('hex'), target]));
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

/** Of a config that cannot be decrypted: somebody may give the channel another one, or bring the key back. */
const UNREADABLE: Attempt = {
  outcome: 'temporary',
  errorCode: 'SEALED_VALUE_INVALID',
  isOfTarget: true,
  retryAfterSeconds: null,
};

function attemptOf({ channelType }: Sender, outcome: Outcome): Attempt {
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
  { sender, message, attempt }: { sender: Sender; message: DueMessage; attempt: Attempt },
): Promise<boolean> {
  const attempts = message.attempts + 1;
  const asked = attempt.outcome === 'temporary' ? Math.min(attempt.retryAfterSeconds ?? 0, RETRY.longestSeconds) : 0;
  const pauseSeconds = Math.max(backoffSeconds(RETRY, attempts, Math.random()) ?? 0, asked);
  const isBlocked = attempt.outcome === 'temporary' && attempt.isOfTarget;
  await run.inTransaction(async (tx) => {
    if (isBlocked)
      await deferMessages(tx, { channelId: sender.id, attempts, pauseSeconds, errorCode: attempt.errorCode });
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
