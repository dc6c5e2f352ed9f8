import { openForSending } from '../alerts/public.js';
import type { Source } from '../deliveries/public.js';
import {
  expiry,
  itemWithoutTime,
  type Notification,
  type Severity,
  targetsOf,
  truncated,
  urgencyOf,
} from '../sending/public.js';
import { listMessageNotices, lockChannel, SOURCE } from './notice.queries.js';
import { hasAddress, NoticeFacts, type NoticeKind } from './notice.rules.js';
import { findNoticeSender, listPeople } from './notice.sql.js';

type NoticeSender = Awaited<ReturnType<typeof findNoticeSender>>[number];

/** The delivery source of notices: finds channels and people, and renders messages. */
export const NOTICE_SOURCE: Source<NoticeSender> = {
  name: SOURCE,
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

/** Texts of notices of a kind. */
interface Texts {
  readonly title: (count: number) => string;
  readonly noun: { readonly one: string; readonly many: string };
  readonly severity: Severity;
  readonly nextSteps: string;
}

const TEXTS: Readonly<Record<NoticeKind, Texts>> = {
  'secret-reminder': {
    title: (count) => (count === 1 ? 'Reminder of a secret' : `Reminders of ${count} secrets`),
    noun: { one: 'Secret', many: 'Secrets' },
    severity: 'info',
    nextSteps:
      'Act on the reminder, for example replace the value. Change or remove the reminder in the settings of the secret.',
  },
  'credential-expiry': {
    title: (count) =>
      count === 1 ? 'A credential of an identity expires soon' : `${count} credentials of identities expire soon`,
    noun: { one: 'Credential', many: 'Credentials' },
    severity: 'warning',
    nextSteps: 'Create a new token or client secret, install it wherever the old one is used, and revoke the old one.',
  },
  'credential-change': {
    title: (count) =>
      count === 1 ? 'Credentials of an identity changed' : `${count} changes of credentials of identities`,
    noun: { one: 'Change', many: 'Changes' },
    severity: 'info',
    nextSteps: 'If nobody on your team did this, revoke the credentials of the identity and check the audit trail.',
  },
  'project-rescue': {
    title: () => 'The project was rescued',
    noun: { one: 'Rescue', many: 'Rescues' },
    severity: 'warning',
    nextSteps:
      'Somebody with the right to rescue projects became admin of the project for a limited time, because it had none. If you did not expect this, revoke the rescue and check the audit trail.',
  },
  'certificate-request-failure': {
    title: (count) => (count === 1 ? 'A certificate could not be issued' : `${count} certificates could not be issued`),
    noun: { one: 'Request', many: 'Requests' },
    severity: 'error',
    nextSteps:
      'Check the error of the request, fix its cause, and request the certificate again before the current one expires.',
  },
  'connection-failure': {
    title: (count) => (count === 1 ? 'A connection stopped working' : `${count} connections stopped working`),
    noun: { one: 'Connection', many: 'Connections' },
    severity: 'error',
    nextSteps:
      'Rotations that use the connection fail until it works again. Check its error, then update its credentials or make the external system reachable.',
  },
  'rotation-failure': {
    title: (count) => (count === 1 ? 'A rotation failed' : `${count} rotations failed`),
    noun: { one: 'Rotation', many: 'Rotations' },
    severity: 'error',
    nextSteps:
      'The mapped secrets still hold the previous credential. Check the attempts of the rotation and fix the cause; to rotate immediately, start it manually.',
  },
  'delivery-failure': {
    title: (count) =>
      count === 1 ? 'Notifications reach nobody' : `Notifications of ${count} alerts and projects reach nobody`,
    noun: { one: 'Alert or project', many: 'Alerts and projects' },
    severity: 'error',
    nextSteps:
      'No channel of these alerts and projects has delivered. Correct or replace the channels, or make their targets reachable. What is still needed is sent again as soon as a channel is changed, and at midnight UTC.',
  },
};

interface ShownNotice {
  readonly id: string;
  readonly kind: NoticeKind;
  readonly subjectId: string;
  readonly facts: unknown;
  readonly daysLeft: number | null;
}

/** Who notifies. `name` is null for emails to people. */
interface Notified {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly ownerName: string;
  readonly name: string | null;
}

/** Renders notices of one kind; null if there are none. @param now when it is sent */
function noticeNotification(
  notified: Notified,
  notices: readonly ShownNotice[],
  now = new Date(),
): Notification | null {
  const [first] = notices;
  if (first === undefined) return null;
  const { title, noun, severity, nextSteps } = TEXTS[first.kind];
  const items = notices.map(itemOf);
  return {
    ...notificationBy(notified, first.kind, now),
    severity: first.daysLeft === null ? severity : urgencyOf(first.daysLeft).severity,
    title: title(notices.length),
    noun: { ...noun, omitted: '' },
    items,
    nextSteps,
  };
}

/** Owner of the notices, and the reason why a recipient gets them. */
function notificationBy(
  { organizationId, projectId, ownerName, name }: Notified,
  kind: NoticeKind | 'test',
  now: Date,
) {
  const owner = projectId === null ? 'Organization' : 'Project';
  const label = owner.toLowerCase();
  const shownOwner = `the ${label} “${truncated(ownerName, 100)}”`;
  return {
    event: {
      type: `project.${kind}`,
      subject: kind,
      source: `/${label}s/${projectId ?? organizationId}`,
    },
    occurredAt: now,
    context: [[owner, ownerName] as const, ...(name === null ? [] : [['Channel', name] as const])],
    reason:
      name === null
        ? `an admin of ${shownOwner}, or because the notice names this address`
        : `a recipient of the channel “${truncated(name, 100)}” of ${shownOwner}`,
    data: { [label]: { id: projectId ?? organizationId, name: ownerName } },
    link: null,
  };
}

function itemOf({ id, subjectId, facts, daysLeft }: ShownNotice) {
  const { name, fields, expiresAt } = NoticeFacts.parse(facts);
  const item = itemWithoutTime(name, Object.entries(fields), { id, subjectId, expiresAt });
  if (expiresAt === undefined || daysLeft === null) return item;
  return { ...item, urgency: urgencyOf(daysLeft), due: expiry(daysLeft, new Date(expiresAt)) };
}

/** Renders the test of a channel. @param now when it is sent */
export function testNotification(notified: Notified, now = new Date()): Notification {
  return {
    ...notificationBy(notified, 'test', now),
    severity: 'info',
    title: 'Test of this channel',
    noun: { one: 'Notice', many: 'Notices', omitted: '' },
    items: [],
    nextSteps: 'No action is needed: somebody tested this channel.',
  };
}
