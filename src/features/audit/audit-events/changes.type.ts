import { ID } from 'type-graphql';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { AuditEventType } from './event.type.js';

export const ChangesOfKindType = objectType('ChangesOfKind', 'Changes of one kind.', {
  events: [[AuditEventType], 'The changes, newest first.'],
  hasMore: [Boolean, 'Whether there may be more. To list all, use `auditEvents`.'],
});
export type ChangesOfKindType = InstanceType<typeof ChangesOfKindType>;

/** What the API shows of what changed in a project. */
export const ProjectChangesType = objectType('ProjectChanges', 'What changed in a project, by kind.', {
  projectId: [ID, 'ID of the project.'],
  secrets: [ChangesOfKindType, 'Changes of secrets, folders, imports, rotations, environments and tags.'],
  roles: [ChangesOfKindType, 'Changes of roles of the project.'],
  members: [ChangesOfKindType, 'Changes of memberships, additional privileges and rescues.'],
  tokens: [
    orNull(ChangesOfKindType),
    'Changes of access tokens, client secrets and authentication methods of current members. Null if you cannot read members and identities of the project.',
  ],
  others: [ChangesOfKindType, 'All other changes of the project.'],
});
export type ProjectChangesType = InstanceType<typeof ProjectChangesType>;
