import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { AuditClass } from '../../../kernel/audit/audit-class.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import { type AuditActorKind, type AuditOutcome, auditActorKind, auditClass, auditOutcome } from './event.rules.js';

const AuditOutcomeEnum = enumType<AuditOutcome>(
  'AuditOutcome',
  'Outcomes of an audited request.',
  { allowed: 'The request was allowed.', denied: 'The request was denied: the actor lacked the permission.' },
  auditOutcome,
);

const AuditActorKindEnum = enumType<AuditActorKind>(
  'AuditActorKind',
  'Kinds of actors.',
  {
    identity: 'A machine identity.',
    user: 'A user.',
    system: 'The service itself: a background job, or the first start.',
  },
  auditActorKind,
);

const AuditClassEnum = enumType<AuditClass>(
  'AuditEventClass',
  'Classes of audit events.',
  {
    change: 'Something was changed. `disclosedSecrets` says whether the response also contained secret values.',
    'value-read': 'A response contained secret values.',
    browse: 'A response contained no secret values.',
    denial: 'A request was denied.',
  },
  auditClass,
);

/** What the API shows of a fact. */
@ObjectType('AuditFact', {
  description:
    'A detail of an audit event. The field of its type has the value; all are null for a detail that is null.',
  simpleResolvers: true,
})
export class AuditFactType {
  @Field(() => String, { description: 'Name of the detail, for example `secretId`.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Value of a string.' })
  stringValue!: string | null;

  @Field(() => Float, { nullable: true, description: 'Value of a number.' })
  numberValue!: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Value of a boolean.' })
  booleanValue!: boolean | null;

  @Field(() => [String], { nullable: true, description: 'Values of a list.' })
  listValue!: readonly string[] | null;
}

/** What the API shows of an event of the trail. */
@ObjectType('AuditEvent', {
  description: 'An entry of the audit trail. It never contains secret values.',
  simpleResolvers: true,
})
export class AuditEventType {
  @Field(() => ID, { description: 'ID of the event, in exports too.' })
  eventId!: string;

  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => ID, { nullable: true, description: 'ID of the project. Null for events of the organization.' })
  projectId!: string | null;

  @Field(() => DateTime, { description: 'When it happened, by the clock of the database.' })
  occurredAt!: Date;

  @Field(() => String, {
    description: 'What the actor did, for example `secret:update`; for a denied request, the missing permission.',
  })
  action!: string;

  @Field(() => AuditClassEnum, { description: 'Class of the event: what kind of request it was.' })
  class!: AuditClass;

  @Field(() => ID, {
    nullable: true,
    description:
      'ID of the resource that was changed. Null for reads, for changes of several resources, and for events that were recorded before there were classes.',
  })
  subjectId!: string | null;

  @Field(() => AuditOutcomeEnum, { description: 'Whether it was allowed.' })
  outcome!: AuditOutcome;

  @Field(() => AuditActorKindEnum, { description: 'Kind of the actor.' })
  actorKind!: AuditActorKind;

  @Field(() => ID, { description: 'ID of the user or machine identity that did it; zeros for the service itself.' })
  actorId!: string;

  @Field(() => ID, { nullable: true, description: 'ID of the access token. Null for the service itself.' })
  tokenId!: string | null;

  @Field(() => String, {
    description: 'ID of the request. Logs and responses show it. For example `6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11`.',
  })
  requestId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'IP address of the caller, for example `192.0.2.1`. Null for background jobs.',
  })
  address!: string | null;

  @Field(() => String, { nullable: true, description: 'User agent of the caller, up to 200 characters.' })
  userAgent!: string | null;

  @Field(() => [AuditFactType], { description: 'Details: IDs, names and counts, by name.' })
  facts!: readonly AuditFactType[];

  /** Its number in the trail, for cursors alone. */
  sequence!: string;

  /** Name of the disclosure of the row, for the nested fields. */
  disclosed!: string | null;
}

/** The secrets whose values a response had. */
@ObjectType('DisclosedSecrets', { description: 'Secrets whose values a response contained.', simpleResolvers: true })
export class DisclosedSecretsType {
  @Field(() => Int, { description: 'Number of the secrets.' })
  count!: number;

  @Field(() => [ID], { description: 'IDs of the secrets, as many as requested.' })
  ids!: readonly string[];
}

export const AuditEventConnection = soughtConnectionOf(AuditEventType, 'AuditEvent', 'time, newest first');
