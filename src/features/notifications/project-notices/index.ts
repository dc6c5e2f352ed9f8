import './project-notices.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeInProject, type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { sendJob } from '../deliveries/public.js';
import type { Notifier } from '../sending/public.js';
import { NotificationChannel } from './channel.entity.js';
import { findChannels } from './channel.queries.js';
import { ChannelCountResolver, ChannelResolver, ProjectChannelsResolver } from './channel.resolver.js';
import { channelRoutes } from './channel.routes.js';
import { rulesFor } from './channel.rules.js';
import { ChannelService, readOf } from './channel.service.js';
import { NotificationChannelType, toNotificationChannel } from './channel.type.js';
import { FIND_EXPIRING } from './credentials.js';
import { findMessages } from './history/message.queries.js';
import { ChannelMessagesResolver, MessageResolver, ProjectMessagesResolver } from './history/message.resolver.js';
import { messageRoutes } from './history/message.routes.js';
import { MessageService, readOf as readOfMessage } from './history/message.service.js';
import { NotificationMessageType } from './history/message.type.js';
import { Notice } from './notice.entity.js';
import { FIND_UNSENT, FIND_UNTOLD, WRITE_MESSAGES_JOB } from './notice-job.js';
import { NOTICE_SOURCE } from './notice-source.js';
import { SecretReminder } from './reminder.entity.js';
import { REMIND } from './reminders.js';
import { FIND_UNDELIVERED } from './undelivered.js';

/**
 * Notices of projects and the channels that send them.
 *
 * @param deps `allowPrivateTargets`: webhooks may call this machine and private networks
 */
export function createProjectNotices(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
  readonly notifier: Notifier;
  readonly allowPrivateTargets: boolean;
}): Feature {
  const rules = rulesFor(deps);
  const channels = new ChannelService(deps.projects, rules, deps.notifier);
  const messages = new MessageService(deps.projects);
  return {
    entities: [NotificationChannel, Notice, SecretReminder],
    resolvers: [
      new ChannelResolver(channels),
      new ChannelCountResolver(),
      new ProjectChannelsResolver(channels),
      new MessageResolver(messages, deps.relations),
      new ChannelMessagesResolver(messages),
      new ProjectMessagesResolver(messages),
      ...[NotificationChannelType, NotificationMessageType].map((type) => projectRelationOf(type, deps.relations)),
    ],
    nodes: [
      nodeInProject(deps.relations, {
        type: 'NotificationChannel',
        table: 'notification_channel',
        action: 'webhooks:read',
        find: async (ctx, params) => (await findChannels(ctx, params)).map(toNotificationChannel),
        record: readOf,
      }),
      nodeInProject(deps.relations, {
        type: 'NotificationMessage',
        table: 'notification_message',
        only: `n.source = '${NOTICE_SOURCE.name}'`,
        action: 'webhooks:read',
        find: (ctx, { ids }) => findMessages(ctx, { ids }),
        record: (row) => readOfMessage(row as Parameters<typeof readOfMessage>[0]),
      }),
    ],
    routes: [...channelRoutes(rules), ...messageRoutes],
    jobs: [
      WRITE_MESSAGES_JOB,
      FIND_UNTOLD,
      FIND_UNSENT,
      FIND_UNDELIVERED,
      REMIND,
      FIND_EXPIRING,
      sendJob(NOTICE_SOURCE, deps.notifier),
    ],
    groups: [
      {
        name: 'notification-channels',
        permission: { subject: 'webhooks', nouns: /^(NotificationChannels?)$/ },
        title: 'Notification channels',
        description: 'How a project notifies of reminders, credentials and failures, and what it has sent.',
        paths: /\/notification-(channels|messages)\b/,
        parameters: { channelId: 'The notification channel.', messageId: 'What it has sent or has to send.' },
      },
    ],
  };
}
