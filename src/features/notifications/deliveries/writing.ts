import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import type { ChannelType, Notification, Target } from '../sending/public.js';
import { NotificationMessage } from './message.entity.js';
import { findMessageContent, listSendingChannels, retryNow } from './message.queries.js';
import { retryMessage, type retryMessagesBy, writeDeliveries } from './message.sql.js';

/** A channel as needed for sending, its config still sealed. */
export interface Sender {
  readonly id: string;
  readonly organizationId: string;
  /** Null: the channel belongs to an organization. */
  readonly projectId: string | null;
  readonly channelType: ChannelType;
  /** If it changes, the channel may have another target. */
  readonly configVersion: number;
  readonly isEnabled: boolean;
}

/** What a slice provides to send notifications. */
export interface Source<S extends Sender = Sender> {
  /** Stored in the database: never rename a released one. */
  readonly name: string;
  /** Name and description of the sending job. */
  readonly job: { readonly name: string; readonly description: string };
  /** Finds a channel; undefined if it was deleted. */
  find(ctx: Context, channelId: string): Promise<S | undefined>;
  /** Its targets. Decrypts the config. @throws SEALED_VALUE_INVALID */
  targets(ctx: Context, sender: S): Promise<readonly Target[]>;
  /** Renders a message; an error code if there is nothing to send any more. */
  compose(
    ctx: Context,
    sender: S,
    message: { readonly id: string; readonly event: string },
  ): Promise<Notification | { readonly errorCode: string }>;
  /**
   * Locks the owner of a channel against changes and against checks that write its messages. Taken before messages are cancelled or
   * replaced, so that a check sees them as they are afterwards.
   */
  lock(tx: Transaction, sender: S): Promise<unknown>;
}

/** How long delivery of a message is attempted. */
export const GIVE_UP_SECONDS = 3 * 86_400;
/** Subjects per batch: an owner may have a hundred targets, and more rows would exceed the statement timeout. */
const TARGETS_AT_ONCE = 10;

/** One recipient of one channel, as deliveries name it. */
export interface Recipient {
  readonly channelId: string;
  readonly channelType: ChannelType;
  /** Made by `digestsOf`. Empty for an email channel that cannot be decrypted: the message waits until it can be. */
  readonly recipient: Buffer;
}

/** Messages of an owner about some subjects. */
interface NewMessages {
  readonly organizationId: string;
  /** Null: of an organization. */
  readonly projectId: string | null;
  /** Its alert, project or organization. It must be locked. */
  readonly ownerId: string;
  readonly event: string;
  readonly subjectIds: readonly string[];
  /** The day of a repeated event. Absent: notify only once. */
  readonly occurrence?: string;
}

type Sending = Pick<Source, 'name' | 'job'>;

/**
 * Writes messages to these targets, except those that were written before, and queues sending after the commit. Messages that failed
 * or were cancelled are sent again; those that were sent or are pending are not.
 *
 * @returns whether there are messages to send
 */
export async function writeMessages(
  tx: Transaction,
  { name: source, job }: Sending,
  { occurrence = '', ...messages }: NewMessages,
  targets: readonly Recipient[],
): Promise<boolean> {
  const written = new Set<string>();
  for (let at = 0; at < targets.length; at += TARGETS_AT_ONCE) {
    const some = targets.slice(at, at + TARGETS_AT_ONCE);
    const rows = await writeDeliveries(tx, {
      ...messages,
      source,
      occurrence,
      giveUpSeconds: GIVE_UP_SECONDS,
      channelIds: some.map(({ channelId }) => channelId),
      types: some.map(({ channelType }) => channelType),
      recipients: some.map(({ recipient }) => recipient),
      batched: some.map(({ channelType }) => channelType === 'email' || channelType === 'slack'),
    });
    for (const { channelId } of rows) written.add(channelId);
  }
  await enqueueSending(tx, job, { ...messages, channelIds: [...written] });
  return written.size > 0;
}

/** Queues sending of the pending messages of channels. */
const enqueueSending = (
  tx: Transaction,
  job: Sending['job'],
  {
    channelIds,
    organizationId,
    projectId,
  }: Pick<NewMessages, 'organizationId' | 'projectId'> & { channelIds: string[] },
): Promise<void> =>
  enqueueStanding(
    tx,
    job,
    channelIds.map((channelId) => ({ key: channelId, subjectId: channelId, organizationId, projectId })),
  );

/**
 * Replaces a message that waited for the recipients of its channel by one message to each of them, except those that were written before.
 * The owner must be locked.
 */
export async function splitByRecipient(
  tx: Transaction,
  sending: Sending,
  { id, targets }: { readonly id: string; readonly targets: readonly Recipient[] },
): Promise<void> {
  const content = await findMessageContent(tx, { id });
  for (const messages of content) await writeMessages(tx, sending, messages, targets);
  if (content.length > 0) await tx.em.nativeDelete(NotificationMessage, { id });
}

/**
 * Has the senders of an owner look now: its channels may have been disabled or deleted.
 *
 * @param configuredIds channels with another config: their messages do not wait for the end of a pause
 */
export async function wakeSenders(
  tx: Transaction,
  { job }: Pick<Sending, 'job'>,
  { ownerId, ...owner }: Pick<NewMessages, 'organizationId' | 'projectId' | 'ownerId'>,
  configuredIds: readonly string[],
): Promise<void> {
  if (configuredIds.length > 0) await retryNow(tx, { channelIds: configuredIds });
  const channelIds = (await listSendingChannels(tx, { ownerId })).map(({ channelId }) => channelId);
  await enqueueSending(tx, job, { ...owner, channelIds });
}

/**
 * Resets a failed or cancelled message to pending, as if it were new.
 *
 * @returns its previous state; null if it is pending or sent
 */
export async function retry(tx: Transaction, { job }: Sending, id: string): Promise<string | null> {
  const [retried] = await retryMessage(tx, { id, giveUpSeconds: GIVE_UP_SECONDS });
  if (retried === undefined) return null;
  await enqueueSending(tx, job, { ...retried, channelIds: [retried.channelId] });
  return retried.stateBefore;
}

/** How many messages one operation retries at most. */
export const MAX_RETRIED = 5_000;

/** Which failed and cancelled messages to retry. */
interface Retried {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly ownerId: string | null;
  readonly channelId?: string | null | undefined;
  readonly since?: Date | null | undefined;
  readonly dryRun: boolean;
}

/** The number of messages that are pending again, and whether there may be more. */
export interface RetriedCount {
  readonly count: number;
  readonly hasMore: boolean;
}

/**
 * Resets failed and cancelled messages to pending, as if they were new, queues sending, and records that.
 *
 * @param source `statement`: made by `retryMessagesBy`; `ofId`: the project or owner
 */
export async function retryMany(
  tx: Transaction,
  { job, statement, ofId }: Pick<Sending, 'job'> & { statement: ReturnType<typeof retryMessagesBy>; ofId: string },
  { ownerId, channelId = null, since = null, dryRun, ...owner }: Retried,
  { action, facts }: { readonly action: string; readonly facts?: AuditFacts },
): Promise<RetriedCount> {
  const [retried] = await statement(tx, {
    ofId,
    ownerId,
    channelId: channelId === null || isId(channelId) ? channelId : NO_ID,
    since: since?.toISOString() ?? null,
    dryRun,
    most: MAX_RETRIED,
    giveUpSeconds: GIVE_UP_SECONDS,
  });
  const { found = 0, count = 0, channelIds = [] } = retried ?? {};
  await enqueueSending(tx, job, { ...owner, channelIds: [...channelIds] });
  const record = { action, projectId: owner.projectId, facts: { ...facts, count, dryRun } };
  await (dryRun ? tx.auditTrail.recordRead(tx, record) : tx.auditTrail.recordChange(tx, record));
  return { count, hasMore: found === MAX_RETRIED };
}
