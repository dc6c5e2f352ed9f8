import type { Transaction } from '../../kernel/context.js';
import { ask } from '../../kernel/jobs/queue.js';
import type { ChannelType } from '../notifications/public.js';
import { retryMessage, writeDeliveries } from './message.sql.js';
import type { Source } from './source.js';

/** How long a delivery is tried. Source: decisions 7.5. */
const GIVE_UP_SECONDS = 3 * 86_400;
/** With a thousand subjects each: an owner may have a hundred targets, which is more than the database writes in the time of a statement. */
const TARGETS_AT_ONCE = 10;

/** One recipient of one channel, as the ledger has it. */
export interface LedgerTarget {
  readonly channelId: string;
  readonly channelType: ChannelType;
  /** Made by `digestsOf`. */
  readonly recipient: Buffer;
}

/** The messages of an owner about some subjects. */
export interface NewMessages {
  readonly organizationId: string;
  /** Null: of an organization. */
  readonly projectId: string | null;
  /** Its alert, project or organization. It must be locked. */
  readonly ownerId: string;
  readonly event: string;
  readonly subjectIds: readonly string[];
  /** The day of something that is repeated. Absent: once and for all. */
  readonly occurrence?: string;
}

type Sending = Pick<Source, 'name' | 'job'>;

/**
 * Writes messages to these targets, but for what the ledger has already, and has them sent after the commit.
 *
 * @returns whether there is anything new
 * Source: decisions 7.5, reliability P7.
 */
export async function writeMessages(
  tx: Transaction,
  { name: source, job }: Sending,
  { occurrence = '', ...messages }: NewMessages,
  targets: readonly LedgerTarget[],
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
  await askToSend(tx, job, { ...messages, channelIds: [...written] });
  return written.size > 0;
}

/** Has channels send what waits for them. */
const askToSend = (
  tx: Transaction,
  job: Sending['job'],
  {
    channelIds,
    organizationId,
    projectId,
  }: Pick<NewMessages, 'organizationId' | 'projectId'> & { channelIds: string[] },
): Promise<void> =>
  ask(
    tx,
    job,
    channelIds.map((channelId) => ({ key: channelId, subjectId: channelId, organizationId, projectId })),
  );

/**
 * Lets a message that failed or was cancelled wait again, as if it were new.
 *
 * @returns its state of before; null for one that waits or was sent
 */
export async function retry(tx: Transaction, { job }: Sending, id: string): Promise<string | null> {
  const [retried] = await retryMessage(tx, { id, giveUpSeconds: GIVE_UP_SECONDS });
  if (retried === undefined) return null;
  await askToSend(tx, job, { ...retried, channelIds: [retried.channelId] });
  return retried.stateBefore;
}
