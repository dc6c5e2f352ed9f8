import { Field, ID, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Apart, missedRun, RotationWindow, ScheduleOptions, TimeOfDay, weekday } from './schedule.rules.js';
import { WEEKDAYS } from './window.js';

const WeekdayEnum = enumType(
  'Weekday',
  'A day of the week.',
  Object.fromEntries(WEEKDAYS.map((day) => [day, `A ${day}.`])),
  weekday,
);

const MissedRunEnum = enumType(
  'MissedRun',
  'When a rotation runs after its window has passed without.',
  {
    'as-soon-as-possible': 'As soon as a window is open.',
    'next-window': 'When a window opens the next time.',
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
  @Field(() => ID, { description: 'ID of the other rotation.' })
  rotationId!: string;

  @Field(() => Int, { description: 'How far it stays away from that, in minutes.' })
  minutes!: number;
}

@ObjectType('SecretRotationSchedule', {
  description: 'When a rotation runs by itself, beside its interval and time of day.',
  simpleResolvers: true,
})
export class ScheduleType {
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
