import './project-notices.errors.js';
import type { Feature } from '../../../feature.js';
import { nodeInProject, type ProjectReader, type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import { sendJob } from '../deliveries/public.js';
import type { Notifier } from '../sending/public.js';
import { NotificationChannel } from './channel.entity.js';
import {
  ChannelResolver,
  channelRoutes,
  NotificationChannelType,
  ProjectChannelsResolver,
  toNotificationChannel,
} from './channel.resolver.js';
import { rulesFor } from './channel.rules.js';
import { auditOfRead, ChannelService } from './channel.service.js';
import { FIND_EXPIRING } from './events.js';
import {
  ChannelMessagesResolver,
  MessageResolver,
  messageRoutes,
  NotificationMessageType,
  ProjectMessagesResolver,
} from './message.resolver.js';
import { MessageService, auditOfRead as readOfMessage } from './message.service.js';
import { Notice, SecretReminder } from './notice.entity.js';
import { findChannels, findMessages } from './notice.queries.js';
import { FIND_UNDELIVERED, FIND_UNSENT, FIND_UNWRITTEN, REMIND, WRITE_MESSAGES_JOB } from './notice-jobs.js';
import { NOTICE_SOURCE } from './notice-source.js';

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
        record: auditOfRead,
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
      FIND_UNWRITTEN,
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
