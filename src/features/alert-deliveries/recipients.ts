import type { Context } from '../../kernel/context.js';
import { type BatchLoad, batched } from '../../kernel/database/batched.js';
import { type ChannelRow, findChannels, openForSending } from '../alerts/public.js';
import { addressAmong } from '../deliveries/public.js';
import type { MessageRow } from './message.sql.js';

/** Channels by ID. */
export const channelsById: BatchLoad<ChannelRow> = async (ctx, ids) =>
  new Map((await findChannels(ctx, { ids })).map((channel) => [channel.id, channel]));

type Sent = Pick<MessageRow, 'projectId' | 'channelId' | 'channelType' | 'recipientDigest'>;

/**
 * The address that a message goes to; null for channels of other types, and if the channel no longer has the address. All messages of a
 * request share their statements.
 */
export async function addressOf(ctx: Context, message: Sent): Promise<string | null> {
  if (message.channelType !== 'email') return null;
  const channel = await batched(ctx, channelsById, message.channelId);
  if (channel?.channelType !== 'email') return null;
  return addressAmong(ctx, message, () => openForSending(ctx, { ...channel, channelType: 'email' }));
}
