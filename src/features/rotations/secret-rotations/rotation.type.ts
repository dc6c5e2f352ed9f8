import { Field, ID, Int, InterfaceType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { WaitReason } from '../../../kernel/jobs/job-kind.js';
import { DECLARATIONS, type RotationType } from './kinds/kinds.js';
import { rotationType } from './rotation.rules.js';
import { ScheduleType, TimeOfDayType } from './schedule/schedule.type.js';
import type { RotationStatus } from './store/rotation.entity.js';

export const RotationTypeEnum = enumType(
  'SecretRotationType',
  'Types of secret rotations, by the credential that they replace.',
  Object.fromEntries(DECLARATIONS.map(({ type, description }) => [type, description])),
  rotationType,
);

const RotationStatusEnum = enumType<RotationStatus>('SecretRotationStatus', 'States of a secret rotation.', {
  success: 'The mapped secrets hold the valid credential.',
  failed: 'The last attempt failed. The mapped secrets hold the previous credential, which is still valid.',
  in_progress: 'An attempt is running.',
  needs_reconciliation: 'It is unknown which credential is valid. Both are stored.',
  deleting: 'The rotation is deleted as soon as its credentials are revoked.',
});

const RotatedPlaceType = objectType('RotatedPlace', 'Environment and folder of the secrets of a rotation.', {
  environmentId: [ID, 'ID of the environment.'],
  environmentSlug: [String, 'Slug of the environment.'],
  environmentName: [String, 'Name of the environment.'],
  folderId: [ID, 'ID of the folder.'],
  secretPath: [String, 'Path of the folder, for example `/payments/eu`.'],
});
type RotatedPlaceType = InstanceType<typeof RotatedPlaceType>;

const ConnectorType = objectType('RotationConnector', 'The app connection that a rotation uses.', {
  connectionId: [ID, 'ID of the connection.'],
  app: [String, 'App of the connection, for example `datatool`.'],
  name: [String, 'Name of the connection.'],
});
type ConnectorType = InstanceType<typeof ConnectorType>;

/** A rotation as the API shows it. */
@InterfaceType('SecretRotation', {
  implements: Node,
  description: 'Replaces a credential in an external system regularly, and writes it to the mapped secrets.',
})
export class SecretRotationType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => RotationTypeEnum, { description: 'Type of the rotation.' })
  type!: RotationType;

  @Field(() => String, { description: 'Name of the rotation, unique in its folder.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description of the rotation. Null if it has none.' })
  description!: string | null;

  @Field(() => RotatedPlaceType, { description: 'Environment and folder of the mapped secrets.' })
  place!: RotatedPlaceType;

  @Field(() => ConnectorType, { description: 'The app connection that the rotation uses.' })
  connection!: ConnectorType;

  @Field(() => Boolean, { description: 'Whether the credential is rotated automatically.' })
  isAutoRotationEnabled!: boolean;

  @Field(() => Int, { description: 'Days between two automatic rotations.' })
  rotationInterval!: number;

  @Field(() => TimeOfDayType, { description: 'Time of day of automatic rotations, in the time zone of `schedule`.' })
  rotateAtUtc!: TimeOfDayType;

  @Field(() => ScheduleType, {
    description: 'Further settings of automatic rotation: time zone, cron expression, window.',
  })
  schedule!: ScheduleType;

  @Field(() => RotationStatusEnum, { description: 'State of the rotation.' })
  status!: RotationStatus;

  @Field(() => Int, { description: 'Slot of the published credential, 0 or 1.' })
  activeIndex!: number;

  @Field(() => Int, { description: 'Number of credentials published so far.' })
  generation!: number;

  @Field(() => Int, { description: 'Number of failed attempts since the last success.' })
  failures!: number;

  @Field(() => String, {
    nullable: true,
    description:
      'Why automatic rotation is paused, for example `CREDENTIALS_REJECTED`: retries could lock the account; `ACCOUNT_ROTATED`: another rotation owns the account. A successful manual rotation or a change of the schedule resumes it. Null if it is not paused.',
  })
  pauseReason!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the last attempt started. Null before the first one.' })
  lastAttemptedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the last attempt succeeded. Null before the first success.',
  })
  lastRotatedAt!: Date | null;

  @Field(() => Boolean, {
    description: 'Whether the last successful attempt was manual, or the creation of the rotation.',
  })
  isLastManual!: boolean;

  @Field(() => ID, { nullable: true, description: 'ID of the last attempt: see `secretRotationAttempts`.' })
  lastAttemptId!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Why the rotation waits (see `waitReason`), or else the error message of the last attempt. Null if it did not fail.',
  })
  lastMessage!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Why a due rotation has not started, or a started one does not continue. `KEY_DISABLED`: the organization key of the project is disabled. `TARGET_UNRESPONSIVE`: the external system did not respond and is left alone; `unresponsive` of the connection shows when it is tried again, and a manual rotation tries it at once. The rotation continues by itself, and nothing has failed. Null if it does not wait.',
  })
  waitReason!: WaitReason | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the next automatic rotation runs. Null if none is scheduled.',
  })
  nextRotationAt!: Date | null;

  @Field(() => Int, { description: 'Version of the settings of the rotation. Increments with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the rotation was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the rotation was last changed.' })
  updatedAt!: Date;
}

export const RotationConnection = countedConnectionOf(SecretRotationType, 'SecretRotation', 'name');
