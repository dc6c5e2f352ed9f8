import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { changeKind } from './change.rules.js';
import { CHANGE_KINDS, CHANGE_OPERATIONS, type ChangeKind, type ChangeOperation } from './change-kinds.js';
import { RESET_REASONS, type ResetReason } from './position.js';

export const ChangeKindEnum = enumType(
  'ChangeKind',
  'Kinds of resources that change events are about.',
  CHANGE_KINDS,
  changeKind,
);
const ChangeOperationEnum = enumType('ChangeOperation', 'What happened to the resource.', CHANGE_OPERATIONS);
const ResetReasonEnum = enumType('ChangeResetReason', 'Why changes may be missing.', RESET_REASONS);

/** Where a secret was before it was moved or renamed. */
@ObjectType('ChangeLocation', { description: 'Location of a secret.', simpleResolvers: true })
export class ChangeLocationType {
  @Field(() => String, { description: 'Slug of the environment.' })
  environment!: string;

  @Field(() => String, { description: 'Path of the folder.' })
  secretPath!: string;

  @Field(() => String, { description: 'Name of the secret.' })
  secretKey!: string;
}

/** What the API shows of a change. */
@ObjectType('ChangeEvent', {
  description: 'A change of a resource. It contains no values.',
  simpleResolvers: true,
})
export class ChangeEventType {
  @Field(() => String, { description: 'Position of the event. Pass it as `after` to continue after this event.' })
  cursor!: string;

  @Field(() => ChangeKindEnum, { description: 'Kind of the resource.' })
  kind!: ChangeKind;

  @Field(() => ChangeOperationEnum, { description: 'What happened to it, for example `CREATED`.' })
  operation!: ChangeOperation;

  @Field(() => String, {
    nullable: true,
    description:
      'The action as the audit trail records it, for example `secret:update`. Null for events of the stream itself.',
  })
  action!: string | null;

  @Field(() => ID, { nullable: true, description: 'ID of the project. Null for changes of the organization.' })
  projectId!: string | null;

  @Field(() => String, { nullable: true, description: 'Slug of the environment, if the resource is in one.' })
  environment!: string | null;

  @Field(() => String, { nullable: true, description: 'Path of the folder, if the resource is in one.' })
  secretPath!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the secret, if the resource is one.' })
  secretKey!: string | null;

  @Field(() => ChangeLocationType, {
    nullable: true,
    description: 'Former location of a secret that was moved or renamed.',
  })
  previous!: ChangeLocationType | null;

  @Field(() => ID, { nullable: true, description: 'ID of the resource. Null if the change is about several.' })
  subjectId!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Type of the account that made the change: `identity`, `user` or `system`.',
  })
  actorKind!: string | null;

  @Field(() => ID, { nullable: true, description: 'ID of the account that made the change.' })
  actorId!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the change was made.' })
  occurredAt!: Date | null;

  @Field(() => ResetReasonEnum, { nullable: true, description: 'Reason for the operation RESET; otherwise null.' })
  resetReason!: ResetReason | null;
}
