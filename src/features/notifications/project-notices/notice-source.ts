import { openForSending } from '../alerts/public.js';
import type { Source } from '../deliveries/public.js';
import { targetsOf } from '../sending/public.js';
import { hasAddress } from './addresses.js';
import { lockChannel } from './channel.queries.js';
import { listMessageNotices } from './notice.queries.js';
import { findNoticeSender, listPeople } from './notice.sql.js';
import { noticeNotification } from './notice-notification.js';

type NoticeSender = Awaited<ReturnType<typeof findNoticeSender>>[number];

/** The delivery source of notices: finds channels and people, and renders messages. */
export const NOTICE_SOURCE: Source<NoticeSender> = {
  name: 'project-notice',
  job: {
    name: 'project-notices:send',
    description:
      'Sends the pending messages of one channel of a project, or to people of a project or an organization.',
  },
  find: async (ctx, channelId) => (await findNoticeSender(ctx, { channelId }))[0],
  targets: async (ctx, { id, projectId, configSealed, ...sender }) => {
    if (projectId !== null && configSealed !== null) {
      const channel = { ...sender, id, projectId, configSealed, table: 'notification_channel' };
      return targetsOf(sender.channelType, await openForSending(ctx, channel));
    }
    const people = (await listPeople(ctx, { ownerId: id, userIds: null })).filter(hasAddress);
    return people.map(({ username: recipient }) => ({ type: 'email', recipient }));
  },
  compose: async (ctx, sender, { id }) => {
    const notices = await listMessageNotices(ctx, { messageId: id });
    return noticeNotification(sender, notices) ?? { errorCode: 'NOTICES_REMOVED' };
  },
  lock: (tx, { id }) => lockChannel(tx, { channelId: id }),
};
