import { ID, Int } from 'type-graphql';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
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

export const TimeOfDayType = objectType('TimeOfDay', 'A time of day.', {
  hours: [Int, 'Hours, 0 to 23.'],
  minutes: [Int, 'Minutes, 0 to 59.'],
});
export type TimeOfDayType = InstanceType<typeof TimeOfDayType>;

const RotationWindowType = objectType('RotationWindow', 'Window in which a rotation may run automatically.', {
  days: [[WeekdayEnum], 'Days on which the window opens.'],
  from: [TimeOfDayType, 'When the window opens.'],
  to: [TimeOfDayType, 'When the window closes. If earlier than `from`, on the next day.'],
});

const ApartType = objectType('ApartRotation', 'Another rotation that must not run at about the same time.', {
  rotationId: [ID, 'ID of the other rotation.'],
  minutes: [Int, 'Minimum distance from its runs, in minutes.'],
});

export const ScheduleType = objectType(
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
export type ScheduleType = InstanceType<typeof ScheduleType>;
