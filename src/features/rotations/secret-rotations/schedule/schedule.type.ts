import { Field, ID, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { Apart, missedRun, RotationWindow, ScheduleOptions, TimeOfDay, weekday } from './schedule.rules.js';
import { WEEKDAYS } from './window.js';

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
inputType('ApartRotationInput', Apart);

@ObjectType('TimeOfDay', { description: 'A time of day.', simpleResolvers: true })
export class TimeOfDayType {
  @Field(() => Int, { description: 'Hours, 0 to 23.' })
  hours!: number;

  @Field(() => Int, { description: 'Minutes, 0 to 59.' })
  minutes!: number;
}

@ObjectType('RotationWindow', {
  description: 'Window in which a rotation may run automatically.',
  simpleResolvers: true,
})
class RotationWindowType {
  @Field(() => [WeekdayEnum], { description: 'Days on which the window opens.' })
  days!: readonly string[];

  @Field(() => TimeOfDayType, { description: 'When the window opens.' })
  from!: TimeOfDayType;

  @Field(() => TimeOfDayType, { description: 'When the window closes. If earlier than `from`, on the next day.' })
  to!: TimeOfDayType;
}

@ObjectType('ApartRotation', {
  description: 'Another rotation that must not run at about the same time.',
  simpleResolvers: true,
})
class ApartType {
  @Field(() => ID, { description: 'ID of the other rotation.' })
  rotationId!: string;

  @Field(() => Int, { description: 'Minimum distance from its runs, in minutes.' })
  minutes!: number;
}

@ObjectType('SecretRotationSchedule', {
  description: 'Further settings of automatic rotation, besides interval and time of day.',
  simpleResolvers: true,
})
export class ScheduleType {
  @Field(() => String, { description: 'Time zone of all times of the schedule, for example `Europe/Berlin`.' })
  timeZone!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Cron expression instead of interval and time of day. Null: none.',
  })
  cron!: string | null;

  @Field(() => RotationWindowType, {
    nullable: true,
    description: 'Window in which the rotation may run. Null: any time.',
  })
  window!: RotationWindowType | null;

  @Field(() => MissedRunEnum, { description: 'When the rotation runs after it missed its window.' })
  missed!: string;

  @Field(() => [ApartType], { description: 'Rotations that must not run at about the same time.' })
  apart!: readonly ApartType[];
}
