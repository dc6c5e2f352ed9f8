import { Field, ID, Int, InterfaceType, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumType } from '../../kernel/graphql/enums.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { DECLARATIONS, type RotationType } from './kinds/kinds.js';
import { rotationType } from './rotation.rules.js';
import { ScheduleType, TimeOfDayType } from './schedule/schedule.type.js';
import type { RotationStatus } from './store/rotation.entity.js';

export const RotationTypeEnum = enumType(
  'SecretRotationType',
  'What a rotation replaces.',
  Object.fromEntries(DECLARATIONS.map(({ type, description }) => [type, description])),
  rotationType,
);

const RotationStatusEnum = enumType<RotationStatus>('SecretRotationStatus', 'How a rotation is.', {
  success: 'The mapped secrets hold the credential that works.',
  failed: 'The last attempt failed; the mapped secrets hold the credential of before, which works.',
  in_progress: 'An attempt is open.',
  needs_reconciliation: 'Nobody can tell which credential works. Both are kept.',
  deleting: 'It is being deleted, as soon as its credentials are known to be revoked.',
});

@ObjectType('RotatedPlace', { description: 'Where the secrets of a rotation are.', simpleResolvers: true })
class RotatedPlaceType {
  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Name of the environment.' })
  environmentName!: string;

  @Field(() => ID, { description: 'ID of the folder.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of the folder, as `/payments/eu`.' })
  secretPath!: string;
}

@ObjectType('RotationConnector', { description: 'The connection that a rotation uses.', simpleResolvers: true })
class ConnectorType {
  @Field(() => ID, { description: 'Names it.' })
  connectionId!: string;

  @Field(() => String, { description: 'Its app, as `datatool`.' })
  app!: string;

  @Field(() => String, { description: 'Its name.' })
  name!: string;
}

/** What the API shows of a rotation. Source: specification, Secret rotation. */
@InterfaceType('SecretRotation', {
  implements: Node,
  description: 'Replaces a credential in an outside system, and in the secrets that it is mapped to.',
})
export class SecretRotationType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => RotationTypeEnum, { description: 'What it replaces.' })
  type!: RotationType;

  @Field(() => String, { description: 'What people call it; unique in its folder.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is for; null if nobody said.' })
  description!: string | null;

  @Field(() => RotatedPlaceType, { description: 'Where its secrets are.' })
  place!: RotatedPlaceType;

  @Field(() => ConnectorType, { description: 'The connection that it uses.' })
  connection!: ConnectorType;

  @Field(() => Boolean, { description: 'Whether it rotates by itself.' })
  isAutoRotationEnabled!: boolean;

  @Field(() => Int, { description: 'Days between two rotations.' })
  rotationInterval!: number;

  @Field(() => TimeOfDayType, { description: 'At which time of the day it rotates, UTC.' })
  rotateAtUtc!: TimeOfDayType;

  @Field(() => ScheduleType, { description: 'What else decides when it rotates by itself.' })
  schedule!: ScheduleType;

  @Field(() => RotationStatusEnum, { description: 'How it is.' })
  status!: RotationStatus;

  @Field(() => Int, { description: 'Which of its two slots, 0 or 1, holds the published credential.' })
  activeIndex!: number;

  @Field(() => Int, { description: 'How many credentials it has published.' })
  generation!: number;

  @Field(() => Int, { description: 'How often it has failed since the last success.' })
  failures!: number;

  @Field(() => String, {
    nullable: true,
    description:
      'Why automatic rotation is paused, as `CREDENTIALS_REJECTED`: retries could lock an account. A rotation by hand that succeeds, or a change of the schedule, ends the pause. Null when it is not paused.',
  })
  pauseReason!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was last tried; null before the first time.' })
  lastAttemptedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it last succeeded; null before the first time.' })
  lastRotatedAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether the last success was by hand, or its creation.' })
  isLastManual!: boolean;

  @Field(() => ID, { nullable: true, description: 'The last attempt, which `secretRotationAttempts` lists.' })
  lastAttemptId!: string | null;

  @Field(() => String, { nullable: true, description: 'Why the last attempt failed, in words; null when it did not.' })
  lastMessage!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When it rotates next by itself; null when it does not.' })
  nextRotationAt!: Date | null;

  @Field(() => Int, { description: 'Rises with every change of its settings.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const RotationConnection = countedConnectionOf(SecretRotationType, 'SecretRotation', 'name');
