import type { Context } from '../../../kernel/context.js';
import { unreadableCode } from '../../../kernel/crypto/sealed-text.js';
import { runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { queryOf } from '../../../kernel/database/database.js';
import { type ChannelConfigs, type ChannelType, type Target, targetsOf } from '../sending/public.js';
import type { Recipient } from './writing.js';

interface Owner {
  readonly organizationId: string;
  /** Null: an organization. */
  readonly projectId: string | null;
}

/** Of channels with one target. */
const NOBODY = Buffer.alloc(0);

/** The digested string of an address, case-insensitive. */
const digestTextOf = (address: string): string => `recipient ${address.toLowerCase()}`;

/**
 * The recipient of a delivery: a digest of the address within the project or organization; empty if the channel has a single target.
 * No address is stored.
 */
export async function digestsOf(
  ctx: Context,
  { organizationId, projectId }: Owner,
  targets: readonly Target[],
): Promise<readonly Buffer[]> {
  if (targets.every(({ type }) => type !== 'email')) return targets.map(() => NOBODY);
  const sealer = await ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId });
  return targets.map((target) => (target.type === 'email' ? sealer.digest(digestTextOf(target.recipient)) : NOBODY));
}

/**
 * The recipients of deliveries to channels: one per address of an email channel, otherwise one per channel. An email channel that cannot
 * be decrypted has one recipient, which is empty.
 *
 * @param open decrypts the config of a channel
 */
export async function recipientsOf<C extends { readonly id: string; readonly channelType: ChannelType }>(
  ctx: Context,
  owner: Owner,
  channels: readonly C[],
  open: (channel: C & { readonly channelType: 'email' }) => Promise<ChannelConfigs['email']>,
): Promise<Recipient[]> {
  const found = await Promise.all(
    channels.map(async (channel) => {
      const { id: channelId, channelType } = channel;
      if (channelType !== 'email') return [{ channelId, channelType, recipient: NOBODY }];
      const config = await open({ ...channel, channelType }).catch(orUnreadable);
      // Its messages wait until it can be decrypted, and block those of no other channel.
      if (config === null) return [{ channelId, channelType, recipient: NOBODY }];
      const targets = targetsOf(channelType, config);
      const digests = await digestsOf(ctx, owner, targets);
      return digests.map((recipient) => ({ channelId, channelType, recipient }));
    }),
  );
  return found.flat();
}

/** A message with its recipient. */
interface Sent {
  /** Null: of an organization. */
  readonly projectId: string | null;
  readonly recipientDigest: Uint8Array;
}

/**
 * The address that a message goes to, of the given ones; null if it is none of them or they cannot be decrypted. All messages of a
 * request share their statements.
 *
 * @param open decrypts the addresses
 */
export async function addressByDigest(
  ctx: Context,
  { projectId, recipientDigest }: Sent,
  open: () => Promise<{ readonly recipients: readonly string[] }>,
): Promise<string | null> {
  const opened = await open().catch(orUnreadable);
  return opened === null
    ? null
    : runTogether(ctx, findAddresses, { projectId, recipientDigest, recipients: opened.recipients });
}

const findAddresses: SharedRun<Sent & { readonly recipients: readonly string[] }, string | null> = async (
  ctx,
  messages,
) => {
  const owners = new Map(messages.map(({ projectId }) => [projectId, []]));
  const sealers = await ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, owners);
  // Many messages go to the same addresses.
  const digests = new Map<string, Buffer | undefined>();
  const digestOf = (projectId: string | null, address: string): Buffer | undefined => {
    const key = `${projectId} ${address}`;
    if (!digests.has(key)) digests.set(key, sealers.get(projectId)?.digest(digestTextOf(address)));
    return digests.get(key);
  };
  return messages.map(
    ({ projectId, recipientDigest, recipients }) =>
      recipients.find((address) => digestOf(projectId, address)?.equals(recipientDigest)) ?? null,
  );
};

/** Whether a message is for all recipients of an email channel that could not be decrypted when it was written. */
export const isForUndecryptableChannel = ({
  channelType,
  recipient,
}: {
  readonly channelType: string;
  readonly recipient: Uint8Array;
}): boolean => channelType === 'email' && recipient.length === 0;

/** Fallback for a value that cannot be decrypted, or whose key is disabled. @throws any other error */
function orUnreadable(error: unknown): null {
  unreadableCode(error);
  return null;
}
