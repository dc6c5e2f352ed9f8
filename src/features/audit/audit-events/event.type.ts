import { Float, ID, Int } from 'type-graphql';
import type { AuditClass } from '../../../kernel/audit/audit-class.js';
import { ActorKindEnum } from '../../../kernel/graphql/actor-kind.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { searchConnectionOf } from '../../../kernel/graphql/page.js';
import { type AuditOutcome, actorKind, auditClass, auditOutcome } from './event.rules.js';

const AuditOutcomeEnum = enumType<AuditOutcome>(
  'AuditOutcome',
  'Outcomes of an audited request.',
  { allowed: 'The request was allowed.', denied: 'The request was denied: the actor lacked the permission.' },
  auditOutcome,
);

enumOfRule(actorKind, ActorKindEnum);

const AuditClassEnum = enumType<AuditClass>(
  'AuditEventClass',
  'Classes of audit events.',
  {
    change: 'Something was changed. `disclosedSecrets` says whether the response also contained secret values.',
    'value-read': 'A response contained secret values, or what they reference.',
    browse: 'A response contained no secret values.',
    denial: 'A request was denied.',
  },
  auditClass,
);

/** What the API shows of a fact. */
export const AuditFactType = objectType(
  'AuditFact',
  'A detail of an audit event. The field of its type has the value; all are null for a detail that is null.',
  {
    name: [String, 'Name of the detail, for example `secretId`.'],
    stringValue: [orNull(String), 'Value of a string.'],
    numberValue: [orNull(Float), 'Value of a number.'],
    booleanValue: [orNull(Boolean), 'Value of a boolean.'],
    listValue: [orNull([String]), 'Values of a list.'],
  },
);
export type AuditFactType = InstanceType<typeof AuditFactType>;

/** What the API shows of an event of the trail. */
export const AuditEventType = objectType(
  'AuditEvent',
  'An entry of the audit trail. It never contains secret values.',
  {
    eventId: [ID, 'ID of the event, in exports too.'],
    organizationId: [ID, 'ID of the organization.'],
    projectId: [orNull(ID), 'ID of the project. Null for events of the organization.'],
    occurredAt: [DateTime, 'When it happened, by the clock of the database.'],
    action: [String, 'What the actor did, for example `secret:update`; for a denied request, the missing permission.'],
    class: [AuditClassEnum, 'Class of the event: what kind of request it was.'],
    subjectId: [
      orNull(ID),
      'ID of the resource that was changed. Null for reads, for changes of several resources, and for events that were recorded before there were classes.',
    ],
    outcome: [AuditOutcomeEnum, 'Whether it was allowed.'],
    actorKind: [ActorKindEnum, 'Kind of the actor.'],
    actorId: [ID, 'ID of the user or machine identity that did it; zeros for the service itself.'],
    tokenId: [orNull(ID), 'ID of the access token. Null for the service itself.'],
    requestId: [
      String,
      'ID of the request. Logs and responses show it. For example `6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11`.',
    ],
    address: [orNull(String), 'IP address of the caller, for example `192.0.2.1`. Null for background jobs.'],
    userAgent: [orNull(String), 'User agent of the caller, up to 200 characters.'],
    facts: [[AuditFactType], 'Details: IDs, names and counts, by name.'],
    /** Its number in the trail, for cursors alone. */
    sequence: hiddenField<string>(),
    /** Name of the disclosure of the row, for the nested fields. */
    disclosed: hiddenField<string | null>(),
  },
);
export type AuditEventType = InstanceType<typeof AuditEventType>;

/** The secrets whose values a response had. */
export const DisclosedSecretsType = objectType('DisclosedSecrets', 'Secrets whose values a response contained.', {
  count: [Int, 'Number of the secrets.'],
  ids: [[ID], 'IDs of the secrets, as many as requested.'],
});
export type DisclosedSecretsType = InstanceType<typeof DisclosedSecretsType>;

export const AuditEventConnection = searchConnectionOf(AuditEventType, 'AuditEvent', 'time, newest first');

const ChangesOfKindType = objectType('ChangesOfKind', 'Changes of one kind.', {
  events: [[AuditEventType], 'The changes, newest first.'],
  hasMore: [Boolean, 'Whether there may be more. To list all, use `auditEvents`.'],
});

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
