import { type ClassType, Extensions, Field, ID, Int, InterfaceType, ObjectType } from 'type-graphql';
import type { z } from 'zod';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import type { WaitReason } from '../../../kernel/jobs/job-kind.js';
import { type KindDeclaration, typePrefixOf } from './kind/rotation-kind.js';
import { DECLARATIONS, ofEveryType, type RotationType } from './kinds/kinds.js';
import type { ShownRevocation } from './revocations/live-credentials.js';
import { Content, ContentChange, rotationType } from './rotation.rules.js';
import type { ShownRotation } from './rotation-access.js';
import type { GeneratedCredential } from './rotation-reading.service.js';
import { WEEKDAYS } from './schedule/rotation-window.js';
import {
  ApartFrom,
  missedRun,
  RotationWindow,
  ScheduleOptions,
  TimeOfDay,
  weekday,
} from './schedule/schedule.rules.js';
import type { AttemptReason } from './store/attempt.entity.js';
import type { AttemptRow } from './store/attempt.queries.js';
import type { PendingRevocationReason } from './store/pending-revocation.entity.js';
import type { RotationStatus } from './store/rotation.entity.js';
import { ATTEMPT_STATES, STATES } from './store/states.js';

const WeekdayEnum = enumType(
  'Weekday',
  'Days of the week.',
  Object.fromEntries(WEEKDAYS.map((day) => [day, `${day.charAt(0).toUpperCase()}${day.slice(1)}s.`])),
  weekday,
);

const MissedRunEnum = enumType(
  'MissedRun',
  'When a rotation runs after it missed its window.',
  {
    'as-soon-as-possible': 'As soon as a window is open.',
    'next-window': 'At the next opening of the window.',
  },
  missedRun,
);

inputType('TimeOfDayInput', TimeOfDay);
inputType('RotationWindowInput', RotationWindow);
inputType('SecretRotationScheduleInput', ScheduleOptions);
inputType('ApartRotationInput', ApartFrom);

const TimeOfDayType = objectType('TimeOfDay', 'A time of day.', {
  hours: [Int, 'Hours, 0 to 23.'],
  minutes: [Int, 'Minutes, 0 to 59.'],
});
type TimeOfDayType = InstanceType<typeof TimeOfDayType>;

const RotationWindowType = objectType('RotationWindow', 'Window in which a rotation may run automatically.', {
  days: [[WeekdayEnum], 'Days on which the window opens.'],
  from: [TimeOfDayType, 'When the window opens.'],
  to: [TimeOfDayType, 'When the window closes. If earlier than `from`, on the next day.'],
});

const ApartType = objectType('ApartRotation', 'Another rotation that must not run at about the same time.', {
  rotationId: [ID, 'ID of the other rotation.'],
  minutes: [Int, 'Minimum time between runs of the two rotations, in minutes.'],
});

const ScheduleType = objectType(
  'SecretRotationSchedule',
  'Further settings of automatic rotation, besides interval and time of day.',
  {
    timeZone: [String, 'Time zone of all times of the schedule, for example `Europe/Berlin`.'],
    cron: [orNull(String), 'Cron expression instead of interval and time of day. Null: none.'],
    window: [orNull(RotationWindowType), 'Window in which the rotation may run. Null: any time.'],
    missed: [MissedRunEnum, 'When the rotation runs after it missed its window.'],
    apart: [[ApartType], 'Rotations that must not run at about the same time.'],
  },
);
type ScheduleType = InstanceType<typeof ScheduleType>;

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

export const RotationConnection = connectionOf(SecretRotationType, 'SecretRotation', 'name');

const AttemptStateEnum = enumType(
  'SecretRotationAttemptState',
  'States of an attempt to rotate.',
  Object.fromEntries(ATTEMPT_STATES.map((state) => [state, STATES[state].means])),
);

const AttemptReasonEnum = enumType<AttemptReason>(
  'SecretRotationAttemptReason',
  'Reasons why an attempt was started.',
  {
    creation: 'The rotation was created.',
    adoption: 'The rotation was created with an existing credential.',
    schedule: 'The scheduled time was reached.',
    manual: 'Somebody requested it.',
    reconciliation: 'Somebody requested a password reset, because it was unknown which password is valid.',
  },
);

export const AttemptType = objectType(
  'SecretRotationAttempt',
  'One run of a rotation: why it started, its state, and how it ended.',
  {
    attemptId: [ID, 'ID of the attempt.'],
    number: [Int, 'Number of the attempt within its rotation, from 1.'],
    reason: [AttemptReasonEnum, 'Why the attempt was started.'],
    state: [AttemptStateEnum, 'State of the attempt.'],
    calls: [Int, 'Number of calls so far that asked the external system to set the new credential.'],
    errorCode: [
      orNull(String),
      'Error code of the last failure, for example `TARGET_UNREACHABLE`. Null without a failure.',
    ],
    createdAt: [DateTime, 'When the attempt started.'],
    endedAt: [orNull(DateTime), 'When the attempt ended. Null while it is running.'],
  },
);
export type AttemptType = InstanceType<typeof AttemptType>;

export const AttemptConnection = connectionOf(
  AttemptType,
  'SecretRotationAttempt',
  'start time, newest first',
  'attempt',
);

/** Converts an attempt to its GraphQL type. */
export const toAttemptType = ({ id, ...attempt }: AttemptRow): AttemptType => ({ attemptId: id, ...attempt });

const PendingRevocationReasonEnum = enumType<PendingRevocationReason>(
  'CredentialDebtReason',
  'Reasons why a credential is still to be revoked.',
  {
    replaced: 'Two newer credentials have been published since.',
    orphaned: 'A call without a response may have created it.',
    unusable: 'It was created but does not work.',
    deletion: 'Its rotation is being deleted.',
  },
);

export const PendingRevocationType = objectType(
  'CredentialDebt',
  'A credential in an external system that is still to be revoked.',
  {
    debtId: [ID, 'ID of the credential to revoke.'],
    rotationId: [ID, 'ID of the rotation, which may have been deleted since.'],
    rotationName: [orNull(String), 'Name of the rotation. Null if it was deleted.'],
    projectId: [ID, 'ID of the project of the rotation.'],
    connectionId: [ID, 'ID of the app connection that revokes it.'],
    target: [
      String,
      'External system and account that has it, for example `https://ab123.us1.example.com, account 70403` or `files.example.com:445`.',
    ],
    externalName: [
      orNull(String),
      'Its name in the external system: of a token or an account. Null if that is unknown or cannot be decrypted.',
    ],
    externalId: [
      orNull(String),
      'Its ID in the external system. Null if it has none, or if that is unknown or cannot be decrypted.',
    ],
    type: [RotationTypeEnum, 'Type of the rotation.'],
    reason: [PendingRevocationReasonEnum, 'Why the credential is to be revoked.'],
    tries: [Int, 'Number of failed attempts to revoke it.'],
    errorCode: [
      orNull(String),
      'Error code of the last attempt, for example `TARGET_UNREACHABLE`. Null if none failed.',
    ],
    nextAttemptAt: [DateTime, 'When the next attempt is due.'],
    createdAt: [DateTime, 'Since when the credential is to be revoked.'],
  },
);
export type PendingRevocationType = InstanceType<typeof PendingRevocationType>;

export const PendingRevocationConnection = connectionOf(
  PendingRevocationType,
  'CredentialDebt',
  'time since which they are to be revoked, newest first',
  'unrevoked credential',
);

/** Converts a pending revocation to its GraphQL type. */
export const toPendingRevocationType = ({ id, ...revocation }: ShownRevocation): PendingRevocationType => ({
  debtId: id,
  ...revocation,
});

/** A generated credential in plaintext, as the API shows it. */
@InterfaceType('GeneratedCredential', { description: 'A credential that a rotation generated, in plaintext.' })
export abstract class GeneratedCredentialType {
  @Field(() => Boolean, { description: 'Whether the mapped secrets hold this credential.' })
  isActive!: boolean;

  @Field(() => DateTime, { description: 'When the credential was written to the mapped secrets.' })
  createdAt!: Date;
}

/** The GraphQL type of the credentials of one type of rotations, with its own fields. */
function credentialTypeOf({ type, credential }: KindDeclaration): ClassType<GeneratedCredentialType> {
  const name = `${typePrefixOf(type)}Credential`;
  const made = { [name]: class extends GeneratedCredentialType {} }[name] as ClassType<GeneratedCredentialType>;
  const { description, fields } = credential;
  ObjectType(name, { implements: GeneratedCredentialType, description, simpleResolvers: true })(made);
  for (const [field, about] of Object.entries(fields))
    Field(() => String, { description: about })(made.prototype as object, field);
  return made;
}

const typeOfCredential = ofEveryType(credentialTypeOf);

/** Converts a credential to its GraphQL type. The class decides the type. */
export function toCredentialType(type: RotationType, credential: GeneratedCredential): GeneratedCredentialType {
  const { isActive, createdAt, shown, secrets } = credential;
  const texts = Object.fromEntries(Object.entries(shown).map(([name, text]) => [name, String(text)]));
  const clear = Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
  return Object.assign(new (typeOfCredential(type))(), { isActive, createdAt, ...texts, ...clear });
}

/** Makes the input types of a type of rotations: content, changes, and what they contain. */
function makeInputs({ type, content, change }: KindDeclaration): void {
  const prefix = typePrefixOf(type);
  const { parameters, secretsMapping, temporaryParameters } = content.shape;
  inputType(`${prefix}ParametersInput`, parameters);
  inputType(`${prefix}MappingInput`, secretsMapping);
  if (temporaryParameters !== undefined) inputType(`${prefix}TemporaryInput`, temporaryParameters.unwrap().unwrap());
  inputType(`${prefix}RotationInput`, content);
  inputType(`${prefix}RotationChangeInput`, change);
}
for (const declared of DECLARATIONS) makeInputs(declared);
Extensions(ONE_OF)(inputType('SecretRotationContentInput', Content));
Extensions(ONE_OF)(inputType('SecretRotationContentChangeInput', ContentChange));

/** The GraphQL type of a mapping: one secret key per field. */
function mappingTypeOf({ type, content: { shape } }: KindDeclaration): ClassType {
  const name = `${typePrefixOf(type)}Mapping`;
  const made = { [name]: class {} }[name] as ClassType;
  ObjectType(name, { description: described(shape.secretsMapping), simpleResolvers: true })(made);
  for (const [field, rule] of Object.entries<z.ZodType>(shape.secretsMapping.shape))
    Field(() => String, { description: described(rule) })(made.prototype as object, field);
  return made;
}

/** The GraphQL type of rotations of a type: the common fields, parameters and mapping. */
function rotationTypeOf(declared: KindDeclaration): ClassType<SecretRotationType> {
  const { type, description, content, parametersType } = declared;
  const name = `${typePrefixOf(type)}Rotation`;
  const made = { [name]: class extends SecretRotationType {} }[name] as ClassType<SecretRotationType>;
  ObjectType(name, { implements: [Node, SecretRotationType], description, simpleResolvers: true })(made);
  const mappingType = mappingTypeOf(declared);
  const { parameters, secretsMapping } = content.shape;
  Field(() => parametersType, { description: described(parameters) })(made.prototype as object, 'parameters');
  Field(() => mappingType, { description: described(secretsMapping) })(made.prototype as object, 'secretsMapping');
  return made;
}

/** @throws Error for rules without a description */
function described({ description }: z.ZodType): string {
  if (description === undefined) throw new Error('a rule of a rotation has no description');
  return description;
}

const typeOfRotation = ofEveryType(rotationTypeOf);

/** Converts a rotation to its GraphQL type. The class decides the type. */
export function toRotationType(row: ShownRotation): SecretRotationType {
  const { rotateAtHours, rotateAtMinutes, connectionId, connectionName, app, path, message, attemptId } = row;
  const common = {
    ...row,
    place: {
      environmentId: row.environmentId,
      environmentSlug: row.environment,
      environmentName: row.environmentName,
      folderId: row.folderId,
      secretPath: path,
    },
    connection: { connectionId, app, name: connectionName },
    rotateAtUtc: { hours: rotateAtHours, minutes: rotateAtMinutes },
    schedule: { ...row.schedule, cron: row.schedule.cron ?? null, window: row.schedule.window ?? null },
    lastAttemptId: attemptId,
    lastMessage: message,
  };
  return Object.assign(new (typeOfRotation(row.type))(), common);
}
