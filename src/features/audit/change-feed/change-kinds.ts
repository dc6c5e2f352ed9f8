import type { AuditFacts } from '../../../kernel/audit/audit-record.js';
import type { Action } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';

/** What events are about, and what each kind covers. */
export const CHANGE_KINDS = {
  feed: 'The stream itself: it was opened, or reset. Sent whatever the filters are.',
  secret: 'A shared secret: its value, comment, metadata, tags, name or location.',
  folder: 'A folder.',
  'secret-import': 'An import of one folder into another.',
  environment: 'An environment.',
  tag: 'A tag.',
  project: 'A project and its settings.',
  'project-member': 'A membership of a project, of a user, an identity or a group.',
  'project-role': 'A custom role of a project.',
  privilege: 'An additional privilege of a member.',
  rotation: 'A secret rotation and its runs.',
  'app-connection': 'An app connection.',
  certificate: 'A certificate.',
  'certificate-authority': 'A certificate authority.',
  'certificate-profile': 'A certificate profile.',
  alert: 'A certificate alert.',
  channel: 'A notification channel.',
  webhook: 'A change webhook.',
  'audit-sink': 'An audit sink.',
  organization: 'The organization.',
  'organization-member': 'A membership of the organization.',
  'organization-role': 'A custom role of the organization.',
  identity: 'An identity, its login methods and its client secrets.',
  'access-token': 'An access token.',
  user: 'A user.',
  group: 'A group, its members and its links.',
  'project-template': 'A project template.',
} as const satisfies Record<string, string>;

export type ChangeKind = keyof typeof CHANGE_KINDS;

/** What happened. */
export const CHANGE_OPERATIONS = {
  created: 'The resource was created, or has become visible in the filtered location.',
  updated: 'The resource was changed.',
  moved: 'The secret was moved to another folder or environment, or renamed.',
  deleted: 'The resource was deleted, or has left the filtered location.',
  opened: 'The stream begins here: earlier changes are not sent.',
  reset: 'Changes may be missing between the last event that you received and this one. Read the current state again.',
} as const satisfies Record<string, string>;

export type ChangeOperation = keyof typeof CHANGE_OPERATIONS;

/** The right that an event requires, and the attributes by which conditions may restrict it. */
export interface RequiredRight {
  readonly action: Action;
  /** Absent: the event does not know them, so that only a right without conditions will do. */
  readonly fields?: Fields;
}

interface Rule {
  readonly kind: ChangeKind;
  /** Null: whoever sees the project, or is a member of the organization. */
  readonly need: (facts: AuditFacts) => RequiredRight | null;
}

const always = (kind: ChangeKind, action: Action | null): Rule => ({
  kind,
  need: () => (action === null ? null : { action }),
});

const textOf = (fact: AuditFacts[string] | undefined): string => (typeof fact === 'string' ? fact : '');

const identity = (kind: ChangeKind): Rule => ({
  kind,
  need: ({ identityId }) =>
    // Tokens of people have no identity.
    typeof identityId === 'string' ? { action: 'identity:read', fields: { identityId } } : { action: 'member:read' },
});

const member = (kind: ChangeKind): Rule => ({
  kind,
  need: ({ memberKind, memberId }) => {
    if (memberKind === 'identity') return { action: 'identity:read', fields: { identityId: textOf(memberId) } };
    return { action: memberKind === 'group' ? 'groups:read' : 'member:read' };
  },
});

/** By the subject of the recorded action, the part before the colon. Secrets are recognized by the states that a record carries. */
const RULES: Readonly<Record<string, Rule>> = {
  folder: always('folder', 'secret-folders:read'),
  'secret-import': always('secret-import', 'secret-imports:read'),
  environment: always('environment', 'environments:read'),
  tag: always('tag', 'tags:read'),
  project: always('project', null),
  'project-membership': member('project-member'),
  'project-role': always('project-role', 'role:read'),
  'additional-privilege': member('privilege'),
  'secret-rotation': always('rotation', 'secret-rotation:read'),
  certificate: always('certificate', 'certificates:read'),
  'certificate-request': always('certificate', 'certificates:read'),
  'certificate-authority': always('certificate-authority', 'certificate-authorities:read'),
  'certificate-profile': always('certificate-profile', 'certificate-profiles:read'),
  'certificate-alert': always('alert', 'pki-alerts:read'),
  'notification-channel': always('channel', 'webhooks:read'),
  'change-webhook': always('webhook', 'webhooks:read'),
  'audit-sink': always('audit-sink', 'audit-logs:read'),
  organization: always('organization', 'organization:read'),
  'sub-organization': always('organization', 'organization:read'),
  'organization-member': member('organization-member'),
  'organization-role': always('organization-role', 'role:read'),
  identity: identity('identity'),
  'identity-token-auth': identity('identity'),
  'identity-universal-auth': identity('identity'),
  'identity-oidc-auth': identity('identity'),
  'identity-kubernetes-auth': identity('identity'),
  'client-secret': identity('identity'),
  'access-token': identity('access-token'),
  user: always('user', 'member:read'),
  group: always('group', 'groups:read'),
  'group-member': always('group', 'groups:read'),
  'project-template': always('project-template', 'project-templates:read'),
};

/** What a record of the trail says beside its secrets. */
interface RecordedChange {
  readonly kind: ChangeKind;
  readonly operation: ChangeOperation;
  readonly need: RequiredRight | null;
}

/** The change that a record is about; null: none that the feed knows. */
export function changeOf(action: string, facts: AuditFacts, isOfProject: boolean): RecordedChange | null {
  const [subject = '', verb = ''] = action.split(':');
  const { kind, need } = subject === 'app-connection' ? connectionRule(isOfProject) : (RULES[subject] ?? {});
  if (kind === undefined || need === undefined) return null;
  return { kind, operation: operationOf(verb), need: need(facts) };
}

const connectionRule = (isOfProject: boolean): Rule =>
  always('app-connection', isOfProject ? 'app-connections:read-app-connections' : 'app-connections:read');

function operationOf(verb: string): ChangeOperation {
  if (/^(create|issue|copy|sign-|add|set$|rescue$|link$|attach$)/.test(verb)) return 'created';
  if (/^(delete|remove|revoke|unlink)/.test(verb)) return 'deleted';
  return 'updated';
}
