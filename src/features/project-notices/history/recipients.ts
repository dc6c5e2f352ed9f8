import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, type Together, together } from '../../../kernel/database/batched.js';
import { openForSending } from '../../alerts/public.js';
import { addressAmong } from '../../deliveries/public.js';
import { hasAddress } from '../addresses.js';
import { type ChannelRow, findChannels } from '../channel.queries.js';
import { listPeopleOf, type MessageRow } from './message.sql.js';

/**
 * The address that a message goes to, if its channel still has it or the person would still be notified; null for other types of
 * channels. All messages of a request share their statements.
 */
export async function addressOf(ctx: Context, message: MessageRow): Promise<string | null> {
  if (message.channelType !== 'email') return null;
  // The people of a project count as a channel with the ID of the project.
  if (message.channelId === message.projectId) return addressAmong(ctx, message, () => together(ctx, people, message));
  const channel = await batched(ctx, channelsById, message.channelId);
  if (channel?.channelType !== 'email') return null;
  const sealed = { ...channel, channelType: 'email', table: 'notification_channel' } as const;
  return addressAmong(ctx, message, () => openForSending(ctx, sealed));
}

const channelsById: BatchLoad<ChannelRow> = async (ctx, ids) =>
  new Map((await findChannels(ctx, { ids })).map((channel) => [channel.id, channel]));

const people: Together<MessageRow, { readonly recipients: readonly string[] }> = async (ctx, messages) => {
  const projectIds = [...new Set(messages.map(({ projectId }) => projectId))];
  const found = await listPeopleOf(ctx, { projectIds, messageIds: messages.map(({ id }) => id) });
  const byProject = Map.groupBy(found.filter(hasAddress), ({ projectId }) => projectId);
  const recipients = new Map([...byProject].map(([id, rows]) => [id, rows.map(({ username }) => username)]));
  return messages.map(({ projectId }) => ({ recipients: recipients.get(projectId) ?? [] }));
};
