import { expiry, fitted, type Notification, plainItem, type Severity, urgencyOf } from '../notifications/public.js';
import { NoticeFacts, type NoticeKind } from './notice.rules.js';

/** What is said of notices of a kind. */
interface Words {
  readonly title: (count: number) => string;
  readonly noun: { readonly one: string; readonly many: string };
  readonly severity: Severity;
  readonly nextSteps: string;
}

const WORDS: Readonly<Record<NoticeKind, Words>> = {
  'secret-reminder': {
    title: (count) => (count === 1 ? 'Reminder of a secret' : `Reminders of ${count} secrets`),
    noun: { one: 'Secret', many: 'Secrets' },
    severity: 'info',
    nextSteps:
      'Do what the reminder says, such as replacing the value. Change or remove the reminder in the settings of the secret.',
  },
  'credential-expiry': {
    title: (count) =>
      count === 1 ? 'A credential of an identity expires soon' : `${count} credentials of identities expire soon`,
    noun: { one: 'Credential', many: 'Credentials' },
    severity: 'warning',
    nextSteps: 'Make a new token or client secret, install it wherever the old one is in use, and revoke the old one.',
  },
  'credential-change': {
    title: (count) =>
      count === 1 ? 'Credentials of an identity changed' : `${count} changes of credentials of identities`,
    noun: { one: 'Change', many: 'Changes' },
    severity: 'info',
    nextSteps: 'If nobody in your team did this, revoke the credentials of the identity and look into the audit trail.',
  },
  'project-rescue': {
    title: () => 'The project was rescued',
    noun: { one: 'Rescue', many: 'Rescues' },
    severity: 'warning',
    nextSteps:
      'Somebody made himself an admin of the project for a time, because it had none. If you did not expect it, revoke the rescue and look into the audit trail.',
  },
  'certificate-request-failure': {
    title: (count) => (count === 1 ? 'A certificate could not be issued' : `${count} certificates could not be issued`),
    noun: { one: 'Request', many: 'Requests' },
    severity: 'error',
    nextSteps:
      'Look at the error of the request, remove its cause, and ask for the certificate again before the present one expires.',
  },
  'connection-failure': {
    title: (count) =>
      count === 1 ? 'A connection does not work any more' : `${count} connections do not work any more`,
    noun: { one: 'Connection', many: 'Connections' },
    severity: 'error',
    nextSteps:
      'Rotations by the connection fail until it works again. Look at its error, and give it other credentials or make the outside system reachable.',
  },
  'rotation-failure': {
    title: (count) => (count === 1 ? 'A rotation failed' : `${count} rotations failed`),
    noun: { one: 'Rotation', many: 'Rotations' },
    severity: 'error',
    nextSteps:
      'The mapped secrets hold the credential of before. Look at the attempts of the rotation, remove the cause, and rotate it by hand if you do not want to wait.',
  },
};

interface ShownNotice {
  readonly id: string;
  readonly kind: NoticeKind;
  readonly subjectId: string;
  readonly facts: unknown;
  readonly daysLeft: number | null;
}

/** Who is notified. `name` is null for people. */
interface Notified {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly ownerName: string;
  readonly name: string | null;
}

/** The notification of notices of one kind; null without any. @param now when it is sent */
export function noticeNotification(
  notified: Notified,
  notices: readonly ShownNotice[],
  now = new Date(),
): Notification | null {
  const [first] = notices;
  if (first === undefined) return null;
  const { title, noun, severity, nextSteps } = WORDS[first.kind];
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

/** Who notifies, and why somebody gets it. */
function notificationBy(
  { organizationId, projectId, ownerName, name }: Notified,
  kind: NoticeKind | 'test',
  now: Date,
) {
  const owner = projectId === null ? 'Organization' : 'Project';
  const label = owner.toLowerCase();
  const shownOwner = `the ${label} “${fitted(ownerName, 100)}”`;
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
        ? `an admin of ${shownOwner}, or because its notice names the address`
        : `a recipient of the channel “${fitted(name, 100)}” of ${shownOwner}`,
    data: { [label]: { id: projectId ?? organizationId, name: ownerName } },
    link: null,
  };
}

function itemOf({ id, subjectId, facts, daysLeft }: ShownNotice) {
  const { name, fields, expiresAt } = NoticeFacts.parse(facts);
  const item = plainItem(name, Object.entries(fields), { id, subjectId, expiresAt });
  if (expiresAt === undefined || daysLeft === null) return item;
  return { ...item, urgency: urgencyOf(daysLeft), due: expiry(daysLeft, new Date(expiresAt)) };
}

/** The notification of a test of a channel. @param now when it is sent */
export function testNotification(notified: Notified, now = new Date()): Notification {
  return {
    ...notificationBy(notified, 'test', now),
    severity: 'info',
    title: 'A test of this channel',
    noun: { one: 'Notice', many: 'Notices', omitted: '' },
    items: [],
    nextSteps: 'Nothing is wrong: somebody tried this channel out.',
  };
}
