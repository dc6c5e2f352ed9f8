import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { batched, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import {
  type MessageBounds,
  MessagePage,
  type MessagePageRequest,
  messageBounds,
  messagePage,
  type RetriedCount,
  retry,
  retryMany,
} from '../deliveries/public.js';
import {
  countsOfChannelMessages,
  countsOfProjectMessages,
  findChannels,
  findMessages,
  listChannelMessages,
  listProjectMessages,
  type MessageRow,
} from './notice.queries.js';
import { ListMessages, OneMessage, RetryMessage, RetryMessages } from './notice.rules.js';
import { retryNotices } from './notice.sql.js';
import { NOTICE_SOURCE } from './notice-source.js';

const CHANNEL_NOT_FOUND = 'NOTIFICATION_CHANNEL_NOT_FOUND';
const CHANNEL = { find: findChannels, notFound: CHANNEL_NOT_FOUND } as const;
const NOT_FOUND = 'NOTIFICATION_MESSAGE_NOT_FOUND';
const MESSAGE = { find: findMessages, notFound: NOT_FOUND } as const;

/** A channel nested in a response. */
interface ShownChannel {
  readonly id: string;
  readonly projectId: string;
}

/**
 * Sent, pending and failed notification messages of projects.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED and
 * AUDIT_UNAVAILABLE.
 */
export class MessageService {
  constructor(private readonly projects: ProjectReader) {}

  /** Returns one message. @throws NOTIFICATION_MESSAGE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<MessageRow> {
    const { row } = await this.projects.authorizedItem(ctx, parse(OneMessage, raw), MESSAGE, 'webhooks:read');
    await ctx.auditTrail.recordRead(ctx, auditOfRead(row));
    return row;
  }

  /** Lists messages of a project or of one of its channels, newest first. @throws NOTIFICATION_CHANNEL_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<MessageRow>> {
    const { projectId, channelId, ...request } = parse(ListMessages, raw);
    const bounds = messageBounds(request);
    if (channelId == null) {
      const project = await this.projects.authorized(ctx, projectId, 'webhooks:read');
      const rows = await listProjectMessages(ctx, { ids: [project.projectId], ...bounds });
      return shown(ctx, project, { request, rows });
    }
    const { row } = await this.projects.authorizedItem(ctx, { id: channelId, projectId }, CHANNEL, 'webhooks:read');
    const rows = await listChannelMessages(ctx, { ids: [row.id], ...bounds });
    return shown(ctx, { projectId: row.projectId, channelId: row.id }, { request, rows });
  }

  /** Lists messages of a project nested in a response. All projects share one statement. */
  async pageOfProject(ctx: Context, project: ProjectAccess, raw: unknown): Promise<CountedConnectionOf<MessageRow>> {
    const request = parse(MessagePage, raw);
    const bounds = messageBounds(request);
    authorize(project, 'webhooks:read');
    const rows = (await batched(ctx, messagesByProject, listKey(project.projectId, bounds))) ?? [];
    return shown(ctx, project, { request, rows });
  }

  /** Lists messages of a channel nested in a response. All channels share one statement. */
  async pageOfChannel(
    ctx: Context,
    { id, projectId }: ShownChannel,
    raw: unknown,
  ): Promise<CountedConnectionOf<MessageRow>> {
    const request = parse(MessagePage, raw);
    const bounds = messageBounds(request);
    authorize(await this.projects.loadOwning(ctx, projectId, CHANNEL_NOT_FOUND), 'webhooks:read');
    const rows = (await batched(ctx, messagesByChannel, listKey(id, bounds))) ?? [];
    return shown(ctx, { projectId, channelId: id }, { request, rows });
  }

  /**
   * Retries a failed or cancelled message for another three days.
   *
   * @throws NOTIFICATION_MESSAGE_NOT_FOUND; NOTIFICATION_MESSAGE_NOT_RETRYABLE if it is pending or was sent
   */
  retry(ctx: Context, raw: unknown): Promise<MessageRow> {
    const named = parse(RetryMessage, raw);
    return inTransaction(ctx, async (tx) => {
      const { row } = await this.projects.authorizedItem(tx, named, MESSAGE, 'webhooks:edit');
      const stateBefore = await retry(tx, NOTICE_SOURCE, row.id);
      if (stateBefore === null) throw new AppError('NOTIFICATION_MESSAGE_NOT_RETRYABLE');
      const { id: messageId, projectId, channelId } = row;
      const facts = { channelId, messageId, stateBefore };
      await tx.auditTrail.recordChange(tx, { action: 'notification-message:retry', projectId, facts });
      return loadRow(tx, findMessages, { ids: [row.id] }, NOT_FOUND);
    });
  }

  /** Retries failed and cancelled messages of a project: of all its enabled channels and its people, or of one channel. */
  retryMany(ctx: Context, raw: unknown): Promise<RetriedCount> {
    const { projectId: wanted, ...given } = parse(RetryMessages, raw);
    return inTransaction(ctx, async (tx) => {
      const { organizationId, projectId } = await this.projects.authorized(tx, wanted, 'webhooks:edit');
      const source = { ...NOTICE_SOURCE, statement: retryNotices, ofId: projectId };
      const retried = { organizationId, projectId, ownerId: null, ...given };
      return retryMany(tx, source, retried, { action: 'notification-message:retry-messages' });
    });
  }
}

const messagesByProject = batchOfLists<MessageRow, MessageBounds>(
  (ctx, ids, bounds) => listProjectMessages(ctx, { ids, ...bounds }),
  ({ projectId }) => projectId,
);

const messagesByChannel = batchOfLists<MessageRow, MessageBounds>(
  (ctx, ids, bounds) => listChannelMessages(ctx, { ids, ...bounds }),
  ({ channelId }) => channelId,
);

async function shown(
  ctx: Context,
  { projectId, channelId }: { readonly projectId: string; readonly channelId?: string },
  { request, rows }: { readonly request: MessagePageRequest; readonly rows: readonly MessageRow[] },
): Promise<CountedConnectionOf<MessageRow>> {
  const of =
    channelId === undefined
      ? { ownerId: projectId, counts: countsOfProjectMessages }
      : { ownerId: channelId, counts: countsOfChannelMessages };
  const page = messagePage(ctx, rows, request, of);
  const facts = { ...(channelId === undefined ? {} : { channelId }), count: page.nodes.length };
  await ctx.auditTrail.recordRead(ctx, { action: 'notification-message:list', projectId, facts });
  return page;
}

/** The audit record of reading a message. */
export const auditOfRead = ({ id, channelId, projectId }: Pick<MessageRow, 'id' | 'channelId' | 'projectId'>) => ({
  action: 'notification-message:get',
  projectId,
  facts: { channelId, messageId: id },
});
