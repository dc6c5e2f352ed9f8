import type { Context } from '../../kernel/context.js';
import { backoffSeconds } from '../../kernel/jobs/backoff.js';
import type { Again, JobKind, JobRun } from '../../kernel/jobs/job-kind.js';
import { type ChannelConfigs, type ChannelType, type EventType, openConfig } from '../alerts/public.js';
import {
  cancelMessages,
  deferMessages,
  findSender,
  listDueMessages,
  listMessageCertificates,
  secondsToNextMessage,
  settleMessage,
} from './delivery.sql.js';
import { SEND } from './send.job-kind.js';
import { digestsOf } from './targets.js';

/** From half a minute to six hours. Source: reliability P7. */
const RETRY = { firstSeconds: 30, longestSeconds: 21_600, attempts: Number.POSITIVE_INFINITY };
const AT_ONCE = 20;
/** Certificates that a message names; of more it gives the number. */
const MOST_NAMED = 200;
/** More than any call takes. */
const CALL_SECONDS = 60;

/** What came of sending one message. `ofTarget`: others at this channel would meet the same. */
export type Outcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'temporary'; readonly code: string; readonly ofTarget: boolean };

/** A certificate as notifications name it. */
export type NamedCertificate = Omit<Awaited<ReturnType<typeof listMessageCertificates>>[number], 'messageId' | 'total'>;

/** What is sent. */
export interface Message {
  /** The same for each attempt: receivers drop what they have by it. */
  readonly id: string;
  readonly event: EventType;
  readonly project: { readonly id: string; readonly name: string };
  readonly alert: { readonly id: string; readonly name: string; readonly alertBefore: string };
  /** Soonest expiry first; at most 200. */
  readonly certificates: readonly NamedCertificate[];
  readonly total: number;
}

/** Sends through one kind of channel. `address`: the recipient, for mail. */
export type Send<T extends ChannelType> = (
  ctx: Context,
  config: ChannelConfigs[T],
  message: Message,
  address: string | null,
) => Promise<Outcome>;
export type Senders = { readonly [T in ChannelType]: Send<T> };

type Channel = Awaited<ReturnType<typeof findSender>>[number];
type DueMessage = Awaited<ReturnType<typeof listDueMessages>>[number];

/**
 * Sends what waits at channels. A message is sent before its row says so: after a crash between the two it is sent again, with the
 * same id, and never once the row says sent. Source: decisions 7.5, reliability P7.
 */
export class SendService {
  readonly job: JobKind = { ...SEND, run: (ctx, run) => this.send(ctx, run) };

  constructor(private readonly senders: Senders) {}

  private async send(ctx: Context, run: JobRun): Promise<Again | undefined> {
    const channelId = run.subjectId ?? '';
    const [channel] = await findSender(ctx, { channelId });
    if (channel === undefined || !channel.isEnabled) {
      const errorCode = channel === undefined ? 'CHANNEL_REMOVED' : 'CHANNEL_DISABLED';
      await run.inTransaction((tx) => cancelMessages(tx, { channelIds: [channelId], errorCode }));
      return undefined;
    }
    for (let isBlocked = false; !isBlocked && !run.signal.aborted; ) {
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
    const config = await openConfig(ctx, channel);
    const addresses = await addressesOf(ctx, channel, config);
    const ids = messages.map(({ id }) => id);
    const named = Map.groupBy(
      await listMessageCertificates(ctx, { messageIds: ids, most: MOST_NAMED }),
      ({ messageId }) => messageId,
    );
    for (const message of messages) {
      if (run.signal.aborted) return true;
      const certificates = named.get(message.id) ?? [];
      const address = addresses.get(message.recipient.toString('hex')) ?? null;
      await run.reserve(CALL_SECONDS);
      const outcome = await this.sendOne(ctx, { channel, config, address }, messageOf(channel, message, certificates));
      if (await settle(run, { channel, message, outcome })) return true;
    }
    return false;
  }

  private async sendOne(
    ctx: Context,
    { channel, config, address }: { channel: Channel; config: unknown; address: string | null },
    message: Message,
  ): Promise<Outcome> {
    // What it was about is gone.
    if (message.certificates.length === 0) return { kind: 'failed', code: 'CERTIFICATES_REMOVED' };
    if (channel.channelType === 'email' && address === null) return { kind: 'failed', code: 'RECIPIENT_REMOVED' };
    const send = this.senders[channel.channelType] as Send<ChannelType>;
    return send(ctx, config as ChannelConfigs[ChannelType], message, address);
  }
}

/** Writes down what came of a message. @returns whether the target takes nothing at present */
async function settle(
  run: JobRun,
  { channel, message, outcome }: { channel: Channel; message: DueMessage; outcome: Outcome },
): Promise<boolean> {
  const attempts = message.attempts + 1;
  const pauseSeconds = backoffSeconds(RETRY, attempts, Math.random()) ?? 0;
  const errorCode = outcome.kind === 'sent' ? null : outcome.code;
  const isBlocked = outcome.kind === 'temporary' && outcome.ofTarget;
  await run.inTransaction(async (tx) => {
    if (isBlocked) await deferMessages(tx, { channelId: channel.id, attempts, pauseSeconds, errorCode: outcome.code });
    else await settleMessage(tx, { id: message.id, outcome: outcome.kind, pauseSeconds, errorCode });
  });
  return isBlocked;
}

/** Addresses of a mail channel by their digests. */
async function addressesOf(ctx: Context, channel: Channel, config: object): Promise<ReadonlyMap<string, string>> {
  const recipients = 'recipients' in config ? (config as ChannelConfigs['email']).recipients : [];
  const digests = await digestsOf(ctx, channel.projectId, recipients);
  return new Map(digests.map((digest, at) => [digest.toString('hex'), recipients[at] as string]));
}

const messageOf = (
  { projectId, projectName, alertId, alertName, alertBefore }: Channel,
  { id, event }: DueMessage,
  certificates: Awaited<ReturnType<typeof listMessageCertificates>>,
): Message => ({
  id,
  event,
  project: { id: projectId, name: projectName },
  alert: { id: alertId, name: alertName, alertBefore },
  certificates: certificates.map(({ messageId: _, total: __, ...certificate }) => certificate),
  total: certificates[0]?.total ?? 0,
});
