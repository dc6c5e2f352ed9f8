import { Extensions, Field, ID, InputType, Int, InterfaceType, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule, inputOfRule, inputType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { ONE_OF } from '../../kernel/graphql/schema.js';
import { AccountMappingType, AccountParametersType } from './account-parameters.type.js';
import { enumOf } from './enum-of.js';
import type { RotationType } from './kind/rotation-kind.js';
import {
  Grant,
  PERMISSION_SETS,
  permissionSet,
  TokenMapping,
  TokenParameters,
  TokenTemporary,
} from './kinds/datatool-service-token/token.rules.js';
import { Apart, Content, ContentChange, rotationType } from './rotation.rules.js';
import type { ShownRotation } from './rotation-access.js';
import { MISSED_RUNS } from './schedule/next-rotation.js';
import { missedRun, RotationWindow, ScheduleOptions, TimeOfDay, weekday } from './schedule/schedule.rules.js';
import { WEEKDAYS } from './schedule/window.js';
import type { RotationStatus } from './store/rotation.entity.js';

/** GraphQL's names of the types of rotations. */
export const RotationTypeEnum = {
  DATATOOL_SERVICE_TOKEN: 'datatool-service-token',
  HOSTOS_LOCAL_ACCOUNT: 'hostos-local-account',
} as const satisfies Record<string, RotationType>;
registerEnumType(RotationTypeEnum, {
  name: 'SecretRotationType',
  description: 'What a rotation replaces.',
  valuesConfig: {
    DATATOOL_SERVICE_TOKEN: {
      description: 'Service tokens of a datatool account. The old token works on until the rotation after.',
    },
    HOSTOS_LOCAL_ACCOUNT: {
      description:
        'The password of a local account of a Windows or Samba server. The old password ends when the new one begins.',
    },
  },
});
enumOfRule(rotationType, RotationTypeEnum);

const RotationStatusEnum = {
  SUCCESS: 'success',
  FAILED: 'failed',
  IN_PROGRESS: 'in_progress',
  NEEDS_RECONCILIATION: 'needs_reconciliation',
  DELETING: 'deleting',
} as const satisfies Record<string, RotationStatus>;
registerEnumType(RotationStatusEnum, {
  name: 'SecretRotationStatus',
  description: 'How a rotation is.',
  valuesConfig: {
    SUCCESS: { description: 'The mapped secrets hold the credential that works.' },
    FAILED: { description: 'The last attempt failed; the mapped secrets hold the credential of before, which works.' },
    IN_PROGRESS: { description: 'An attempt is open.' },
    NEEDS_RECONCILIATION: { description: 'Nobody can tell which credential works. Both are kept.' },
    DELETING: { description: 'It is being deleted, as soon as its credentials are known to be revoked.' },
  },
});

const PermissionSetEnum = Object.fromEntries(PERMISSION_SETS.map((name) => [name.toUpperCase(), name]));
registerEnumType(PermissionSetEnum, {
  name: 'DatatoolPermissionSet',
  description: 'A set of rights of service tokens.',
  valuesConfig: Object.fromEntries(
    Object.entries(PermissionSetEnum).map(([name, value]) => [
      name,
      { description: `\`${value}\` of the outside system.` },
    ]),
  ),
});
enumOfRule(permissionSet, PermissionSetEnum);

inputType('TimeOfDayInput', TimeOfDay);

const WeekdayEnum = enumOf(WEEKDAYS);
registerEnumType(WeekdayEnum, {
  name: 'Weekday',
  description: 'A day of the week.',
  valuesConfig: Object.fromEntries(WEEKDAYS.map((day) => [day.toUpperCase(), { description: `A ${day}.` }])),
});
enumOfRule(weekday, WeekdayEnum);

const MissedRunEnum = enumOf(MISSED_RUNS);
registerEnumType(MissedRunEnum, {
  name: 'MissedRun',
  description: 'When a rotation runs after its window has passed without.',
  valuesConfig: {
    AS_SOON_AS_POSSIBLE: { description: 'As soon as a window is open.' },
    NEXT_WINDOW: { description: 'When a window opens the next time.' },
  },
});
enumOfRule(missedRun, MissedRunEnum);

inputType('RotationWindowInput', RotationWindow);
inputType('SecretRotationScheduleInput', ScheduleOptions);
inputType('ApartRotationInput', Apart);
inputType('DatatoolGrantInput', Grant);
inputType('DatatoolServiceTokenParametersInput', TokenParameters);
inputType('DatatoolServiceTokenMappingInput', TokenMapping);
inputType('DatatoolServiceTokenTemporaryInput', TokenTemporary);

const tokenContent = inputType('DatatoolServiceTokenRotationInput', Content.shape.datatoolServiceToken.unwrap());
const tokenChange = inputType(
  'DatatoolServiceTokenRotationChangeInput',
  ContentChange.shape.datatoolServiceToken.unwrap(),
);

const accountContent = inputType('HostosLocalAccountRotationInput', Content.shape.hostosLocalAccount.unwrap());
const accountChange = inputType(
  'HostosLocalAccountRotationChangeInput',
  ContentChange.shape.hostosLocalAccount.unwrap(),
);

@InputType('SecretRotationContentInput', { description: 'What is rotated, by its type.' })
@Extensions(ONE_OF)
class ContentInput {
  @Field(() => tokenContent, { nullable: true, description: 'Tokens of a datatool account.' })
  datatoolServiceToken?: object | null;

  @Field(() => accountContent, { nullable: true, description: 'The password of a local account of a server.' })
  hostosLocalAccount?: object | null;
}
inputOfRule(Content, ContentInput);

@InputType('SecretRotationContentChangeInput', { description: 'Changes of what is rotated, by its type.' })
@Extensions(ONE_OF)
class ContentChangeInput {
  @Field(() => tokenChange, { nullable: true, description: 'Tokens of a datatool account.' })
  datatoolServiceToken?: object | null;

  @Field(() => accountChange, { nullable: true, description: 'The password of a local account of a server.' })
  hostosLocalAccount?: object | null;
}
inputOfRule(ContentChange, ContentChangeInput);

@ObjectType('TimeOfDay', { description: 'A time of day.', simpleResolvers: true })
class TimeOfDayType {
  @Field(() => Int, { description: 'Hours, 0 to 23.' })
  hours!: number;

  @Field(() => Int, { description: 'Minutes, 0 to 59.' })
  minutes!: number;
}

@ObjectType('RotatedPlace', { description: 'Where the secrets of a rotation are.', simpleResolvers: true })
class RotatedPlaceType {
  @Field(() => ID, { description: 'Id of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Name of the environment.' })
  environmentName!: string;

  @Field(() => ID, { description: 'Id of the folder.' })
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

@ObjectType('RotationWindow', { description: 'When a rotation may run by itself.', simpleResolvers: true })
class RotationWindowType {
  @Field(() => [WeekdayEnum], { description: 'On which days it opens.' })
  days!: readonly string[];

  @Field(() => TimeOfDayType, { description: 'When it opens.' })
  from!: TimeOfDayType;

  @Field(() => TimeOfDayType, { description: 'When it closes: on the next day if that is earlier than it opens.' })
  to!: TimeOfDayType;
}

@ObjectType('ApartRotation', {
  description: 'A rotation that another one must never fall together with.',
  simpleResolvers: true,
})
class ApartType {
  @Field(() => ID, { description: 'The other rotation.' })
  rotationId!: string;

  @Field(() => Int, { description: 'How far it stays away from that, in minutes.' })
  minutes!: number;
}

@ObjectType('SecretRotationSchedule', {
  description: 'When a rotation runs by itself, beside its interval and time of day.',
  simpleResolvers: true,
})
class ScheduleType {
  @Field(() => String, { description: 'Time zone of all its times, as `Europe/Berlin`.' })
  timeZone!: string;

  @Field(() => String, {
    nullable: true,
    description: 'A cron expression in place of interval and time of day; null: none.',
  })
  cron!: string | null;

  @Field(() => RotationWindowType, { nullable: true, description: 'When it may run; null: at any time.' })
  window!: RotationWindowType | null;

  @Field(() => MissedRunEnum, { description: 'When it runs after its window has passed without.' })
  missed!: string;

  @Field(() => [ApartType], { description: 'Rotations that it must never fall together with.' })
  apart!: readonly ApartType[];
}

/** What the API shows of a rotation. Source: specification, Secret rotation. */
@InterfaceType('SecretRotation', {
  implements: Node,
  description: 'Replaces a credential in an outside system, and in the secrets that it is mapped to.',
})
export class SecretRotationType extends Node {
  @Field(() => ID, { description: 'The project.' })
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

  @Field(() => ID, { nullable: true, description: 'The last attempt, which `attemptConnection` lists.' })
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

@ObjectType('DatatoolGrant', { description: 'Rights of a service token.', simpleResolvers: true })
class GrantType {
  @Field(() => PermissionSetEnum, { description: 'A set of rights of the outside system.' })
  permissionSet!: string;

  @Field(() => Int, { nullable: true, description: 'The project of the outside system; null: all of its projects.' })
  projectId!: number | null;
}

@ObjectType('DatatoolServiceTokenParameters', { description: 'What tokens are made.', simpleResolvers: true })
class TokenParametersType {
  @Field(() => String, { description: 'What the tokens are called; the number of the attempt is appended.' })
  tokenName!: string;

  @Field(() => [GrantType], { description: 'What the tokens may do.' })
  permissionGrants!: readonly GrantType[];
}

@ObjectType('DatatoolServiceTokenMapping', { description: 'The secret that holds the token.', simpleResolvers: true })
class TokenMappingType {
  @Field(() => String, { description: 'Key of the secret that holds the token.' })
  serviceToken!: string;
}

@ObjectType('DatatoolServiceTokenRotation', {
  implements: [Node, SecretRotationType],
  description:
    'A rotation of service tokens of a datatool account. The token that is replaced works on until the rotation after: consumers have that long to read the new one.',
  simpleResolvers: true,
})
export class TokenRotationType extends SecretRotationType {
  @Field(() => TokenParametersType, { description: 'What tokens it makes.' })
  parameters!: TokenParametersType;

  @Field(() => TokenMappingType, { description: 'The secret that holds the token.' })
  secretsMapping!: TokenMappingType;
}

@ObjectType('HostosLocalAccountRotation', {
  implements: [Node, SecretRotationType],
  description:
    'A rotation of the password of a local account. The account has one password at a time: the old one ends as the new one begins.',
  simpleResolvers: true,
})
class AccountRotationType extends SecretRotationType {
  @Field(() => AccountParametersType, { description: 'Which account it is, and how its password changes.' })
  parameters!: AccountParametersType;

  @Field(() => AccountMappingType, { description: 'The secrets that hold the name of the account and its password.' })
  secretsMapping!: AccountMappingType;
}

/** A new object of the API, by type. */
const SHOWN_AS = {
  'datatool-service-token': TokenRotationType,
  'hostos-local-account': AccountRotationType,
} as const satisfies Record<RotationType, new () => SecretRotationType>;

export const RotationConnection = countedConnectionOf(SecretRotationType, 'SecretRotation', 'name');

/** A rotation as the API shows it. Its class tells its type. */
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
  return Object.assign(new SHOWN_AS[row.type](), common);
}
